/** Writes a JSON text of as many characters as its argument says. */
process.stdin.resume()
process.stdin.on('end', () => process.stdout.write(JSON.stringify('x'.repeat(Number(process.argv[2])))))
