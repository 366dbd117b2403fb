/** Short runs of `npm run torture`, with servers as they are built. Each seed is another course of events. */
import { afterAll, describe, expect, test } from 'vitest'
import { endAll } from '../e2e/program.ts'
import { REPLY_FAULTS } from '../store/postgres-proxy.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { torture } from './torture.ts'
import { isLong } from '../cases.ts'

const SEED = Number(process.env['SVC_TORTURE_SEED'] ?? 20_261_123)
const SECONDS = Number(process.env['SVC_TORTURE_SECONDS'] ?? (isLong ? 15 : 8))
const PATIENCE = { timeout: 240_000 + SECONDS * 2000 }

const postgres = startPostgres()
afterAll(() => {
  endAll()
  postgres?.stop()
})

describe.skipIf(!postgres)('servers on one database', () => {
  const options = { postgres: postgres!, processes: 3, seconds: SECONDS, seed: SEED }

  test('double, lose and forget nothing while everything goes wrong', PATIENCE, async () => {
    const { broken, runs, faults } = await torture(options)
    expect(broken).toEqual([])
    expect(runs).toBeGreaterThan(0)
    // At least one fault in three seconds.
    expect(faults['kill']! + faults['freeze']! + faults['cut']!).toBeGreaterThan(SECONDS / 3)
  })

  test('do what they should not if their requests leave without asking: the ledger shows it', PATIENCE, async () => {
    const wrong = /^(doubled|told as not done): /m
    let shown = ''
    // A freeze must meet a request that leaves: some runs have none.
    for (let seed = SEED; seed < SEED + 5 && !wrong.test(shown); seed++)
      shown = (await torture({ ...options, seed, plan: 'freezes', isUnguarded: true })).broken.join('\n')
    expect(shown).toMatch(wrong)
  })

  test(
    'tell everybody the truth, and ask nobody, when replies of the database are lost, cut or late',
    PATIENCE,
    async () => {
      // Each way at least once: how many replies a run has depends on the machine.
      let disturbed = 0
      for (let seed = SEED; seed < SEED + 5 && disturbed < REPLY_FAULTS.length; seed++) {
        const { broken, errors, reviews, faults } = await torture({ ...options, seed, plan: 'bad network' })
        expect({ broken, errors, reviews }).toEqual({ broken: [], errors: [], reviews: {} })
        disturbed += faults['disturbed reply'] ?? 0
      }
      expect(disturbed).toBeGreaterThanOrEqual(REPLY_FAULTS.length)
    },
  )
})
