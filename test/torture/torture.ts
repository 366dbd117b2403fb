/**
 * Real servers on a real PostgreSQL, while everything goes wrong that can. People start runs, approve and answer at any server; an
 * operator looks into the ledger of the world outside. In the end nothing was doubled, lost or stuck.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { courierFiles } from '../e2e/courier-files.ts'
import { deploy, svcJson, writeProject } from '../e2e/program.ts'
import { seeded } from '../e2e/seeded.ts'
import { openPostgresProxy } from '../store/postgres-proxy.ts'
import type { PostgresServer } from '../store/postgres-server.ts'
import { openCustomers } from './customers.ts'
import { goWrong, type FaultPlan } from './faults.ts'
import { createFleet } from './fleet.ts'
import { openLedger } from './ledger.ts'
import { openOperatorDesk } from './operator.ts'
import { brokenByTorture } from './verdict.ts'
import { removeDirectory } from '../remove-directory.ts'

export interface TortureOptions {
  readonly postgres: PostgresServer
  readonly processes: number
  readonly seconds: number
  readonly seed: number
  /** Requests leave without asking whether they may: then something has to be found. */
  readonly isUnguarded?: boolean
  readonly plan?: FaultPlan
  /** Runs that are open at a time. */
  readonly atOnce?: number
  readonly report?: (line: string) => void
}

export interface TortureResult {
  readonly runs: number
  readonly calls: number
  readonly faults: Readonly<Record<string, number>>
  /** What customers were told where something could not be done. */
  readonly errors: readonly string[]
  readonly reviews: Readonly<Record<string, number>>
  readonly broken: readonly string[]
}

/** The shortest that a server takes. */
const LEASE_MS = 5000
/** Saves and starts of which the reply of one is disturbed. Source: docs/design/several-processes.md#example */
const DISTURBED_EVERY = 10
/** After the last fault: a lease runs out, calls time out, and reviews wait until nothing can arrive any more. */
const END_WITHIN_MS = 120_000
/** A second try has a database of its own. */
let tortures = 0

export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { postgres, processes, seconds, seed, isUnguarded = false, plan = 'everything' } = options
  const { atOnce = 12, report = () => {} } = options
  const random = seeded(seed)
  const directory = mkdtempSync(join(tmpdir(), 'svc-torture-'))
  const slowShare = plan === 'freezes' ? 0.5 : 0.1
  // Some connections open so slowly that a lease ends meanwhile.
  const connectMs = (): number => (random() < slowShare ? random() * 6000 : random() * 30)
  const ledger = await openLedger(directory, { connectMs, answerMs: () => random() * 120 })
  const project = writeProject(courierFiles('non_idempotent_write', ledger.url, '20s'))
  const database = `torture_${++tortures}_${seed}`
  const url = postgres.url(database)
  const env = {
    SVC_STORE: url,
    SVC_LEASE_TTL: `${LEASE_MS}ms`,
    NODE_EXTRA_CA_CERTS: ledger.certificate,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }
  const proxy = plan === 'bad network' ? await openPostgresProxy(postgres.socket) : undefined
  const serverEnv = { ...env, ...(proxy && { SVC_STORE: proxy.url(database) }) }
  const fleet = createFleet({
    project,
    size: processes,
    env: serverEnv,
    ...(isUnguarded && { failpoint: 'guard.off' }),
  })
  try {
    await svcJson(['store', 'migrate'], { cwd: project.directory, env })
    const access = await deploy(project, 'acme.courier', { env })
    for (let at = 0; at < processes; at++) await fleet.start(at)
    const store = await openPostgres({ url, connections: 3 })
    const desk = openOperatorDesk(store, ledger, random)
    const customers = openCustomers({ urls: () => fleet.urls(), access, random, atOnce })
    proxy?.disturbEvery(DISTURBED_EVERY, '_sessions(')
    report(`${processes} servers are up.`)
    const faults = await goWrong({ fleet, postgres, database, random, seconds, leaseMs: LEASE_MS, plan })
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
      faults: { ...faults, ...(proxy && { 'disturbed reply': proxy.disturbed() }) },
      errors: customers.errors,
      reviews: desk.decisions,
      broken: [
        ...fleet.crashes().map((words) => `a server ended by itself: ${words}`),
        ...open.map((each) => `stuck: ${each}`),
        ...broken,
      ],
    }
  } finally {
    for (let at = 0; at < processes; at++) await fleet.stop(at, 'SIGKILL')
    await proxy?.close()
    await ledger.close()
    project.remove()
    removeDirectory(directory)
  }
}
