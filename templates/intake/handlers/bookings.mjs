// Reads {tool, arguments, idempotency_key, …} from stdin and answers on stdout. The same key is the same booking.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const { arguments: args, idempotency_key: key } = JSON.parse(readFileSync(0, 'utf8'))
const booking = `BK-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
process.stdout.write(JSON.stringify({ booking, supplier: args.supplier, total_cents: args.total_cents }))
