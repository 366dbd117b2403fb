/**
 * Lives many histories of three processes over one store, and ends with 1 at the first that breaks a promise.
 * `npm run simulate -- --histories 10000 --seed 1 [--seconds 60] [--weakness 'no guard']`
 */
import { parseArgs } from 'node:util'
import { CALL_MOVES } from '../watch-call-moves.ts'
import { findBrokenPromise } from './search.ts'
import { WEAKNESSES, type WeaknessName } from './weaknesses.ts'

const { values: given } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    /** Ends the search early. */
    seconds: { type: 'string', default: 'Infinity' },
    weakness: { type: 'string' },
  },
})

if (given.weakness !== undefined && !(given.weakness in WEAKNESSES)) {
  process.stderr.write(`There is no weakness "${given.weakness}". There are: ${Object.keys(WEAKNESSES).join('; ')}.\n`)
  process.exit(2)
}

// Whether work took long depends on the machine, and would change the order of what follows.
Object.defineProperty(performance, 'now', { value: () => 0 })

const startedAt = Date.now()
const { done, seed, broken, taken } = await findBrokenPromise({
  first: Number(given.seed),
  histories: Number(given.histories),
  ...(given.weakness !== undefined && { weakness: WEAKNESSES[given.weakness as WeaknessName] }),
  goesOn(count) {
    if (count > 0 && count % 500 === 0) process.stderr.write(`${count} histories keep every promise.\n`)
    return Date.now() - startedAt < Number(given.seconds) * 1000
  },
})
const seconds = Math.round((Date.now() - startedAt) / 1000)
const summary =
  seed === undefined
    ? `${done} histories from seed ${given.seed} keep every promise (${seconds} s).`
    : [`Seed ${seed} breaks a promise, after ${done} that do not (${seconds} s):`, ...broken].join('\n  ')
const left = CALL_MOVES.filter((move) => !taken.has(move)).map((move) => move.replace(' ', ' to '))
process.stdout.write(`${summary}\nMoves of calls that no history took: ${left.join(', ') || 'none'}.\n`)
process.exitCode = seed === undefined ? 0 : 1
