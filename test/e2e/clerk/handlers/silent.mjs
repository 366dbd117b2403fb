// Does its work and then says nothing: nobody knows whether the letter was posted.
import { appendFileSync, readFileSync } from 'node:fs'

const call = JSON.parse(readFileSync(0, 'utf8'))
appendFileSync(process.env.CLERK_LEDGER, `${JSON.stringify(call)}\n`)
setTimeout(() => {}, 60_000)
