// Reads {tool, arguments, …} from stdin and answers on stdout. The same invoice of the same supplier is the same booking.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const { invoice_no, supplier, total_cents } = JSON.parse(readFileSync(0, 'utf8')).arguments
const booking = `BK-${createHash('sha256').update(`${supplier} ${invoice_no}`).digest('hex').slice(0, 8)}`
process.stdout.write(JSON.stringify({ booking, supplier, total_cents }))
