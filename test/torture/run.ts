/**
 * `npm run torture -- --processes 4 --seconds 120 --seed 1 [--plan freezes] [--unguarded]`: ends with 1 if a promise was broken. It needs PostgreSQL's
 * programs and openssl.
 */
import { parseArgs } from 'node:util'
import { endAll } from '../e2e/program.ts'
import { startPostgres } from '../store/postgres-server.ts'
import type { FaultPlan } from './faults.ts'
import { torture } from './torture.ts'

const { values: given } = parseArgs({
  options: {
    processes: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    plan: { type: 'string', default: 'everything' },
    unguarded: { type: 'boolean', default: false },
  },
})

const write = (line: string): void => void process.stdout.write(`${line}\n`)
if (!['everything', 'freezes', 'bad network'].includes(given.plan)) {
  process.stderr.write(`There is no plan "${given.plan}". There are: everything, freezes, bad network.\n`)
  process.exit(2)
}
const postgres = startPostgres(['fsync=on'])
if (!postgres) process.exit(2)
process.once('SIGINT', () => {
  endAll()
  postgres.stop()
  process.exit(130)
})
try {
  const { broken, faults, reviews, runs, calls } = await torture({
    postgres,
    processes: Number(given.processes),
    seconds: Number(given.seconds),
    seed: Number(given.seed),
    isUnguarded: given.unguarded,
    plan: given.plan as FaultPlan,
    report: write,
  })
  write(`${runs} runs, ${calls} calls; ${describe(faults)}; reviews: ${describe(reviews) || 'none'}`)
  write(broken.length === 0 ? 'Nothing was doubled, lost or stuck.' : broken.join('\n'))
  process.exitCode = broken.length === 0 ? 0 : 1
} finally {
  endAll()
  postgres.stop()
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
