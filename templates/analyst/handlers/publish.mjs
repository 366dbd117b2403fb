// Reads {tool, arguments, …} from stdin and answers on stdout. A real one would write to the intranet.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
const folder = fileURLToPath(new URL('../reports/', import.meta.url))
mkdirSync(folder, { recursive: true })
writeFileSync(`${folder}${args.title}.md`, args.text)
process.stdout.write(JSON.stringify({ file: `reports/${args.title}.md` }))
