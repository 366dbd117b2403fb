// Books a refund. Every call is a line of the ledger; a key that was seen before is answered with its first result and
// books nothing, so that a call may be repeated safely.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ledger = process.env.REFUNDS_LEDGER || fileURLToPath(new URL('../refunds.log', import.meta.url))
const { arguments: args, idempotency_key: key } = JSON.parse(readFileSync(0, 'utf8'))

const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : []
const first = lines.map((line) => JSON.parse(line)).find((line) => line.key === key && line.booked)
const result = first?.result ?? { order: args.order, amount: args.amount, currency: args.currency }

appendFileSync(ledger, `${JSON.stringify({ key, booked: first === undefined, result })}\n`)
process.stdout.write(JSON.stringify(result))
