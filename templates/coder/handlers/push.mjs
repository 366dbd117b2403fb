// Notes a push instead of making it. A real one would call `git push`; a key that was seen before pushes nothing.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const log = fileURLToPath(new URL('../pushes.log', import.meta.url))
const { arguments: args, idempotency_key: key } = JSON.parse(readFileSync(0, 'utf8'))
const isKnown = existsSync(log) && readFileSync(log, 'utf8').includes(JSON.stringify(key))
if (!isKnown) appendFileSync(log, `${JSON.stringify({ key, ...args })}\n`)
process.stdout.write(JSON.stringify({ branch: args.branch }))
