// Makes a payment. Every call is a line of the ledger; a key that was seen before is answered with its first result and pays
// nothing, so that a call may be repeated safely.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ledger = process.env.PAYMENTS_LEDGER || fileURLToPath(new URL('../payments.log', import.meta.url))
const { arguments: args, idempotency_key: key } = JSON.parse(readFileSync(0, 'utf8'))

const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : []
const first = lines.map((line) => JSON.parse(line)).find((line) => line.key === key && line.paid)
const result = first?.result ?? { number: args.number, iban: args.iban, amount: args.amount, currency: args.currency }

appendFileSync(ledger, `${JSON.stringify({ key, paid: first === undefined, result })}\n`)
process.stdout.write(JSON.stringify(result))
