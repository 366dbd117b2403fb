// Reads {tool, arguments, …} from stdin and answers on stdout. A real one would ask the accounting system.
import { readFileSync } from 'node:fs'

const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
const vendors = JSON.parse(readFileSync(new URL('../data/vendors.json', import.meta.url), 'utf8'))
const vendor = vendors.find((each) => each.vendor === args.vendor)
if (!vendor) throw new Error(`There is no vendor ${args.vendor}.`)
process.stdout.write(JSON.stringify(vendor))
