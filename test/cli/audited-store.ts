/** A store of sessions and acts that can be changed behind its back, and what an export of it has. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { AuditRecords, ExportedSession } from '../../src/cli/commands/operate/audit-archive.ts'
import { expectDefined } from '../../src/base/values/expect-defined.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { createSqliteStore } from '../../src/store/sqlite/open.ts'
import {
  createManualClock,
  openBench,
  operator,
  policy,
  replyTo,
  returns,
  snapshotOf,
  tool,
  WORKSPACE,
  type Model,
} from '../engine/bench.ts'
import { removeDirectory } from '../remove-directory.ts'
import type { SetupName } from '../../src/spec/people/setup-name.ts'
import { anAct } from '../store/act-contract.ts'
import { SETUP_ACTS, setUpEverything } from '../store/set-up.ts'
import { runId, sessionId } from '../store/makers.ts'

/** Acts of the store: of what is set up, and some of which the content does not matter. */
export const COUNT = SETUP_ACTS + 21
const LARGE = 'x'.repeat(300_000)

export interface AuditedStore {
  /** Without the triggers that keep rows as they are. */
  readonly db: Database
  readonly root: string
  readStore(): Promise<AuditRecords>
  /** What an export has after somebody changed something in the store, which is then as before. */
  recordsAfter(change: string, ...values: unknown[]): Promise<AuditRecords>
  close(): void
}

/** Each session has a call that passes, and one that two people approve; the first ones a large result. */
export async function openAuditedStore(sessions: number): Promise<AuditedStore> {
  let looks = 0
  const root = mkdtempSync(join(tmpdir(), 'svc-audit-'))
  const look = tool('look', { sideEffectClass: 'read_only' })
  const pay = tool('pay', { sideEffectClass: 'irreversible_action', labels: { 'svc/effect-key': 'pay:{args.order}' } })
  const obligations = { approvals_required: 2, approver_role: 'finance', separation_of_duties: true }
  const gate = policy('gate', { obligations })
  const model: Model = ({ run: { input, turn } }) =>
    turn === 1 ? { calls: [{ name: 'look' }] } : turn === 2 ? { calls: [{ name: 'pay', args: input }] } : 'Done.'
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look, pay], policies: [{ on: ['pay'], entry: gate }] })],
    models: { root: model },
    tools: { look: () => returns(looks++ < 4 ? LARGE : 'small'), pay: () => returns('paid') },
  })
  for (let at = 0; at < sessions; at++) {
    const started = await bench.start('root', { order: `A-${at}` })
    const task = await bench.waitForTask(started)
    for (const name of ['ana', 'ben']) {
      const { engine, clock } = bench
      await engine.answer(started, replyTo(task, { by: operator(`${name}@acme.example`, ['finance', 'legal']) }))
      clock.set(clock.now() + 1000)
    }
    await bench.waitForEnd(started)
  }
  const about = { workspaceId: WORKSPACE, sessionId: sessionId('s'), runId: runId('r'), refused: 'not_found' }
  // Agents of a bench are published without acts.
  const published = (await bench.store.setupRows(WORKSPACE, undefined, 1000)).map(({ name }) => name as SetupName)
  await bench.store.addAct(anAct('published', { ...about, setup: published }))
  await setUpEverything(bench.store, anAct)
  for (let at = SETUP_ACTS + 2; at <= COUNT; at++) await bench.store.addAct(anAct(`act ${at}`, about))
  const path = join(root, 'store.db')
  await bench.store.backup(path)
  await bench.engine.close(0)
  const db = connectSqlite(path, {})
  db.pragma('foreign_keys = off')
  db.pragma('ignore_check_constraints = on')
  for (const name of db.prepare<[], string>(`select name from sqlite_schema where type = 'trigger'`).pluck().all())
    db.exec(`drop trigger ${name}`)
  const store = createSqliteStore(db, createManualClock())

  async function readStore(): Promise<AuditRecords> {
    const exported: ExportedSession[] = []
    for (const { session: id } of await store.chainedSessions({ workspaceId: WORKSPACE }, 1000)) {
      const { session, rows } = expectDefined(await store.sessionRows(id), 'the session was listed')
      exported.push({ session, rows, links: await store.linksOf(id, 0, 1000) })
    }
    const selection = { agent: null, by: null, since: null, until: null, content: true }
    const [acts, setup] = [
      await store.actsInOrder(WORKSPACE, 0, 1000),
      await store.setupRows(WORKSPACE, undefined, 1000),
    ]
    return { selection, acts, sessions: exported, setup }
  }

  return {
    db,
    root,
    readStore,
    async recordsAfter(change, ...values) {
      db.exec('begin')
      try {
        if (values.length > 0) db.prepare(change).run(...values)
        else db.exec(change)
        return await readStore()
      } finally {
        db.exec('rollback')
      }
    },
    close() {
      db.close()
      removeDirectory(root)
    },
  }
}
