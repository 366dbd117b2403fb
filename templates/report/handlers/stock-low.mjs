// Reads {tool, arguments, …} from stdin and answers on stdout. A real one would ask the warehouse.
import { readFileSync } from 'node:fs'

const STOCK = { 'copy paper': 4, envelopes: 18, 'blue pens': 230 }
const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
const articles = Object.keys(STOCK).filter((article) => STOCK[article] < args.below)
process.stdout.write(JSON.stringify({ count: articles.length, articles }))
