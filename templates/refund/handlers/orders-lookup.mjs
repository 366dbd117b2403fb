// Reads {tool, arguments, …} from stdin and answers on stdout. A real one would ask the shop's database.
import { readFileSync } from 'node:fs'

const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
process.stdout.write(JSON.stringify({ order: args.order, status: 'delivered', damaged: true }))
