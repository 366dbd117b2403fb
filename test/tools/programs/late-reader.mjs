// Reads its input late, in small pieces, writes the name of each whole line to the file that its argument names, and ends after `c`.
import { appendFileSync } from 'node:fs'

let text = ''
process.stdin.on('data', (chunk) => {
  text += chunk
  for (let at; (at = text.indexOf('\n')) !== -1; text = text.slice(at + 1)) {
    appendFileSync(process.argv[2], `${text[0]}\n`)
    if (text[0] === 'c') process.exit(0)
  }
})
