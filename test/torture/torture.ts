/**
 * Real servers on a real PostgreSQL, while everything goes wrong that can. People start runs, approve and answer at any server; an
 * operator looks into the ledger of the world outside. In the end nothing was doubled, lost or stuck.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { courierFiles } from '../e2e/courier-files.ts'
import { deploy, svcJson, writeProject } from '../e2e/program.ts'
import { seeded } from '../e2e/seeded.ts'
import type { PostgresServer } from '../store/postgres-server.ts'
import { openCustomers } from './customers.ts'
import { goWrong } from './faults.ts'
import { createFleet } from './fleet.ts'
import { openLedger } from './ledger.ts'
import { openOperatorDesk } from './operator.ts'
import { brokenByTorture } from './verdict.ts'

export interface TortureOptions {
  readonly postgres: PostgresServer
  readonly processes: number
  readonly seconds: number
  readonly seed: number
  /** Requests leave without asking whether they may: then something has to be found. */
  readonly isUnguarded?: boolean
  /** Nothing but servers that freeze while connections open slowly: what the guard is for. */
  readonly onlyFreezes?: boolean
  /** Runs that are open at a time. */
  readonly atOnce?: number
  readonly report?: (line: string) => void
}

export interface TortureResult {
  readonly runs: number
  readonly calls: number
  readonly faults: Readonly<Record<string, number>>
  readonly reviews: Readonly<Record<string, number>>
  readonly broken: readonly string[]
}

/** The shortest that a server takes. */
const LEASE_MS = 5000
/** After the last fault: a lease runs out, calls time out, and reviews wait until nothing can arrive any more. */
const END_WITHIN_MS = 120_000

export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { postgres, processes, seconds, seed, isUnguarded = false, onlyFreezes = false } = options
  const { atOnce = 12, report = () => {} } = options
  const random = seeded(seed)
  const directory = mkdtempSync(join(tmpdir(), 'svc-torture-'))
  const slowShare = onlyFreezes ? 0.5 : 0.1
  // Some connections open so slowly that a lease ends meanwhile.
  const connectMs = (): number => (random() < slowShare ? random() * 6000 : random() * 30)
  const ledger = await openLedger(directory, { connectMs, answerMs: () => random() * 120 })
  const project = writeProject(courierFiles('non_idempotent_write', ledger.url, '20s'))
  const database = `torture_${seed}_${onlyFreezes ? 'freezes' : 'all'}_${isUnguarded ? 'unguarded' : 'guarded'}`
  const url = postgres.url(database)
  const env = {
    SVC_STORE: url,
    SVC_LEASE_TTL: `${LEASE_MS}ms`,
    NODE_EXTRA_CA_CERTS: ledger.certificate,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }
  const fleet = createFleet({ project, size: processes, env, ...(isUnguarded && { failpoint: 'guard.off' }) })
  try {
    await svcJson(['store', 'migrate'], { cwd: project.directory, env })
    const access = await deploy(project, 'acme.courier', { env })
    for (let at = 0; at < processes; at++) await fleet.start(at)
    const store = await openPostgres({ url, connections: 3 })
    const desk = openOperatorDesk(store, ledger, random)
    const customers = openCustomers({ urls: () => fleet.urls(), access, random, atOnce })
    report(`${processes} servers are up.`)
    const faults = await goWrong({ fleet, postgres, database, random, seconds, leaseMs: LEASE_MS, onlyFreezes })
    report(`After ${seconds} s of faults ${customers.accepted.length} runs were accepted; now all end.`)
    const open = await customers.finish(END_WITHIN_MS)
    // What the last review decided is stored.
    await after(500)
    await desk.stop()
    const broken = await brokenByTorture(store, ledger, customers.accepted)
    await store.close()
    return {
      runs: customers.accepted.length,
      calls: ledger.entries.length,
      faults,
      reviews: desk.decisions,
      broken: [...open.map((each) => `stuck: ${each}`), ...broken],
    }
  } finally {
    for (let at = 0; at < processes; at++) await fleet.stop(at, 'SIGKILL')
    await ledger.close()
    project.remove()
    rmSync(directory, { recursive: true, force: true })
  }
}
