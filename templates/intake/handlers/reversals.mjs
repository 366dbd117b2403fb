// Reads {tool, arguments, …} from stdin and answers on stdout. A booking that was reversed stays reversed.
import { readFileSync } from 'node:fs'

const { booking } = JSON.parse(readFileSync(0, 'utf8')).arguments
process.stdout.write(JSON.stringify({ reversed: booking }))
