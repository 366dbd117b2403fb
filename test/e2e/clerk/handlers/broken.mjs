process.stderr.write('the printer is on fire\n')
process.exitCode = 4
