/** An export is checked without a server: whatever is changed later is found. Source: docs/design/audit.md#verify */
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import {
  packAudit,
  dropContent,
  type AuditRecords,
  type ExportedSession,
} from '../../src/cli/commands/operate/audit-archive.ts'
import { compareArchives, verifyArchive } from '../../src/cli/commands/operate/verify-archive.ts'
import type { SessionLink } from '../../src/spec/chain/session-link.ts'
import { createCallVerifier } from '../../src/spec/chain/verify-calls.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { createSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import {
  createManualClock,
  inOrder,
  openBench,
  operator,
  policy,
  replyTo,
  returns,
  snapshotOf,
  tool,
  WORKSPACE,
} from '../engine/bench.ts'
import { removeDirectory } from '../remove-directory.ts'
import { anAct } from '../store/act-contract.ts'
import { runId, sessionId } from '../store/makers.ts'

const run = promisify(execFile)
const root = mkdtempSync(join(tmpdir(), 'svc-audit-'))
afterAll(() => removeDirectory(root))
const COUNT = 20
/** The act that is changed. */
const CHANGED = 11
const SESSIONS = 4
const LARGE = 'x'.repeat(300_000)

let db: Database
let store: Store

/** Acts, and sessions with a call that passes, one that two people approve with an edit, and a large result. */
beforeAll(async () => {
  const look = tool('look', { sideEffectClass: 'read_only' })
  const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
  const gate = policy('gate', { obligations: { approvals_required: 2 } })
  const calls = inOrder(
    ...Array.from({ length: SESSIONS }).flatMap(() => [
      { calls: [{ name: 'look' }] },
      { calls: [{ name: 'pay', arguments: { amount: 7 } }] },
      'Done.',
    ]),
  )
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look, pay], policies: [{ on: ['pay'], entry: gate }] })],
    models: { root: calls },
    tools: { look: () => returns(LARGE), pay: () => returns('paid') },
  })
  for (let at = 0; at < SESSIONS; at++) {
    const started = await bench.start('root')
    const task = await bench.waitForTask(started)
    for (const name of ['ana', 'ben']) {
      const { engine, clock } = bench
      await engine.answer(started, replyTo(task, { by: operator(`${name}@acme.example`) }))
      clock.set(clock.now() + 1000)
    }
    await bench.waitForEnd(started)
  }
  const about = { workspaceId: WORKSPACE, sessionId: sessionId('s'), runId: runId('r'), refused: 'not_found' }
  for (let at = 1; at <= COUNT; at++) await bench.store.addAct(anAct(`act ${at}`, about))
  const path = join(root, 'store.db')
  await bench.store.backup(path)
  await bench.engine.close(0)
  db = connectSqlite(path, {})
  db.pragma('foreign_keys = off')
  db.pragma('ignore_check_constraints = on')
  for (const name of db.prepare<[], string>(`select name from sqlite_schema where type = 'trigger'`).pluck().all())
    db.exec(`drop trigger ${name}`)
  store = createSqliteStore(db, createManualClock())
})
afterAll(() => db.close())

async function readStore(): Promise<AuditRecords> {
  const sessions: ExportedSession[] = []
  for (const session of await store.chainedSessions({ workspaceId: WORKSPACE }, 1000))
    sessions.push({ session, links: await store.linksOf(session.session, 0, 1000) })
  const selection = { agent: null, by: null, since: null, until: null, content: true }
  return { selection, acts: await store.actsInOrder(WORKSPACE, 0, 1000), sessions }
}

/** What an export has after somebody changed something in the store, which is then as before. */
async function recordsAfter(change: string, ...values: unknown[]): Promise<AuditRecords> {
  db.exec('begin')
  try {
    if (values.length > 0) db.prepare(change).run(...values)
    else db.exec(change)
    return await readStore()
  } finally {
    db.exec('rollback')
  }
}

const verify = async (records: AuditRecords) => verifyArchive(await packAudit(records))
const findOffence = async (change: string, ...values: unknown[]) =>
  (await verify(await recordsAfter(change, ...values))).offence

test('what nobody changed is whole, with its content and without, and is the same bytes', async () => {
  const records = await readStore()
  const { counts, hashes, offence } = await verify(records)
  const events = records.sessions.reduce((sum, { session }) => sum + session.lastSeq, 0)
  expect(offence).toBeNull()
  expect(hashes).toEqual(records.acts.map(({ hash }) => hash))
  const about = { acts: COUNT, sessions: SESSIONS, events, uncovered: 0 }
  expect(counts).toEqual({ ...about, withoutContent: 0, calls: 2 * SESSIONS, approved: SESSIONS })
  const bare = await verify(dropContent(records))
  expect(bare).toMatchObject({ offence: null, counts: { ...about, withoutContent: SESSIONS, calls: 0 } })
  expect(Buffer.compare(await packAudit(records), await packAudit(await readStore()))).toBe(0)
})

/** Columns that no chain covers, each with the reason. Tables that are not named here are not read by an export. */
const UNCOVERED: Readonly<Record<string, string>> = {
  'session.agent_n': 'names the agent by which sessions are selected',
  'session.started_at': 'by which sessions are selected',
  'session.erased_at': 'says that content is gone, which the export shows by itself',
}
/** Rows that the columns of a table are changed in: of the second session, a step that an event closes. */
const SECOND = 'session_n = (select n from session order by n limit 1 offset 1)'
const ROWS: Readonly<Record<string, string>> = {
  act: `seq = ${CHANGED}`,
  event: `${SECOND} and seq = (select min(seq) from event where ${SECOND} and ordinal is null)`,
  step: `${SECOND} and ordinal = (select max(ordinal) from step where ${SECOND} and type = 'ToolResult' and result_digest is null)`,
  session_link: `${SECOND} and version = (select max(version) from session_link where ${SECOND} and steps > 0)`,
  large_result: 'true',
}
const columnsOf = (table: string) => db.pragma(`table_info(${table})`) as readonly { name: string; type: string }[]
const valueFor = ({ name, type }: { name: string; type: string }) => {
  if (['content', 'hidden', 'data', 'result'].includes(name)) return '{"other":1}'
  return type === 'INTEGER' ? 999 : 'other'
}

test('a changed value of any column that an export has is found', async () => {
  const missed: string[] = []
  const found: Record<string, string> = {}
  for (const [table, where] of Object.entries(ROWS))
    for (const column of columnsOf(table)) {
      const changed = `update ${table} set ${column.name} = ? where ${where}`
      const offence = await findOffence(changed, valueFor(column))
      if (offence) found[`${table}.${column.name}`] = offence.rule
      else missed.push(`${table}.${column.name}`)
    }
  expect(missed).toEqual([])
  expect(Object.keys(found).length).toBe(17 + 8 + 13 + 9 + 2)
  // Of other tables, the chain covers the ids by which the rows are found.
  expect(await findOffence(`update session set id = 'other' where ${SECOND.replace('session_n', 'n')}`)).not.toBeNull()
  expect(await findOffence(`update run set id = 'other' where ${SECOND}`)).not.toBeNull()
  for (const name of Object.keys(UNCOVERED)) {
    const [table, column] = name.split('.')
    const offence = await findOffence(`update ${table} set ${column} = 1 where ${SECOND.replace('session_n', 'n')}`)
    expect([name, offence]).toEqual([name, null])
  }
})

test.each<[string, string, string]>([
  ['an act removed', `delete from act where seq = ${CHANGED}`, 'gap'],
  ['the first act removed', 'delete from act where seq = 1', 'gap'],
  [
    'acts exchanged',
    `update act set seq = 1000 where seq = 5; update act set seq = 5 where seq = 6; update act set seq = 6 where seq = 1000`,
    'hash',
  ],
  [
    'an act added',
    `insert into act select workspace_id, ${COUNT + 1}, at, kind, by, proof, key_id, channel, subject, session_id, run_id, refused,
       counted, content, content_digest, salt, hash from act where seq = ${COUNT}`,
    'hash',
  ],
  ['an event removed', `delete from event where ${SECOND} and seq = 5`, 'gap'],
  [
    'the last event removed',
    `delete from event where ${SECOND} and seq = (select max(seq) from event where ${SECOND})`,
    'content',
  ],
  [
    'an event added',
    `insert into event select session_n, 999, run_n, ts, kind, subject, data, null from event where ${SECOND} and seq = 2`,
    'end',
  ],
  [
    'events exchanged',
    `update event set seq = -1 where ${SECOND} and seq = 1; update event set seq = 1 where ${SECOND} and seq = 2;
     update event set seq = 2 where ${SECOND} and seq = -1`,
    'hash',
  ],
  ['a step removed', `delete from step where ${SECOND} and ordinal = 2`, 'gap'],
  ['a link removed', `delete from session_link where ${SECOND} and version = 3`, 'gap'],
  ['all links removed', `delete from session_link where ${SECOND} and version > 1`, 'end'],
  [
    'a tail removed with its link',
    `delete from event where ${SECOND} and seq > (select seq from session_link where ${SECOND} and version = 3);
     delete from session_link where ${SECOND} and version > 3`,
    'end',
  ],
])('%s is found', async (_, change, rule) => {
  expect(await findOffence(change)).toMatchObject({ rule })
})

test('the first offence is named by session and number', async () => {
  const [
    ,
    {
      session: { session },
    },
  ] = (await readStore()).sessions as [unknown, ExportedSession]
  expect(await findOffence(`update event set data = '{}' where ${SECOND} and seq = 2`)).toEqual({
    session,
    seq: 1,
    rule: 'content',
    what: `The content of events 1 to 3 is not the one that was recorded (session ${session}).`,
  })
})

test('erased content leaves the chains whole', async () => {
  expect(await findOffence(`update act set content = null, salt = null where seq = ${CHANGED}`)).toBeNull()
  const erased = await recordsAfter(`update session_link set salt = null where ${SECOND};
    update step set content = 'null', hidden = null, result_digest = null, error = null where ${SECOND}`)
  expect(await verify(erased)).toMatchObject({ offence: null, counts: { withoutContent: 1 } })
})

/** Links of a session with another content: its chain was written anew, so that only its calls say what is wrong. */
async function faultAfter(change: (step: string, content: JsonObject) => JsonObject | undefined) {
  const { links } = (await readStore()).sessions[0]!
  const verifier = createCallVerifier()
  for (const link of links) {
    const content = link.content!.map((line, at) => {
      const step = link.steps[Math.floor(at / 4)]
      if (!step || at % 4 > 0) {
        const [data] = step ? [] : [JSON.parse(line) as unknown].flat()
        const task = data && (data as JsonObject)['task']
        return task ? JSON.stringify([{ task: change('task', task as JsonObject) ?? task }]) : line
      }
      return JSON.stringify(change(step.type, JSON.parse(line) as JsonObject) ?? JSON.parse(line))
    })
    const offence = verifier.check({ ...link, content } satisfies SessionLink)
    if (offence) return offence.rule
  }
  return null
}

test.each<[string, string | null, (step: string, content: JsonObject) => JsonObject | undefined]>([
  ['as it was', null, () => undefined],
  [
    'no decision',
    'decision',
    (type, content) => (type === 'PolicyDecision' ? { ...content, tool_call_id: 'x' } : undefined),
  ],
  [
    'a denial',
    'decision',
    (type, content) => (type === 'PolicyDecision' ? { ...content, decision: 'deny' } : undefined),
  ],
  [
    'a rejection',
    'approval',
    (type, content) => (type === 'UserTaskRes' ? { ...content, approved: false } : undefined),
  ],
  [
    'other arguments',
    'arguments',
    (type, content) =>
      content['name'] === 'pay' && type === 'ToolCall' ? { ...content, arguments: { amount: 8 } } : undefined,
  ],
  [
    'one vote of two',
    'approver',
    (type, content) =>
      type === 'UserTaskRes' ? { ...content, votes: (content['votes'] as JsonObject[]).slice(1) } : undefined,
  ],
  [
    'one person twice',
    'approver',
    (type, content) =>
      type === 'UserTaskRes'
        ? {
            ...content,
            votes: (content['votes'] as JsonObject[]).map((vote) => ({ ...vote, by: 'operator:ana@acme.example' })),
          }
        : undefined,
  ],
  [
    'a proof that nobody gave',
    'approver',
    (type, content) =>
      type === 'task' || type === 'UserTaskReq' ? { ...content, approval_proof: 'hardware' } : undefined,
  ],
  [
    'a second dispatch',
    'twice',
    (type, content) =>
      type === 'ToolCall' || type === 'ToolResult' || type === 'PolicyDecision'
        ? { ...content, tool_call_id: type === 'PolicyDecision' && content['name'] === 'pay' ? 'y' : 'x' }
        : undefined,
  ],
])('a call that was sent with %s: %s', async (_, rule, change) => {
  expect(await faultAfter(change)).toBe(rule)
})

describe('an archive that is', () => {
  test.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['empty', () => Buffer.alloc(0)],
    ['of something else', () => Buffer.from('acts.jsonl')],
    ['cut off', (bytes) => bytes.subarray(0, 5000)],
    ['cut off in its sessions', (bytes) => bytes.subarray(0, bytes.length - 100_000)],
    ['changed in a line', (bytes) => Buffer.from(bytes.toString('latin1').replace('"act 9"', '"act 8"'), 'latin1')],
    ['not JSON in a line', (bytes) => Buffer.from(bytes.toString('latin1').replace('{"at":', '{"at" '), 'latin1')],
    [
      'written in another order',
      (bytes) =>
        Buffer.from(
          bytes.toString('latin1').replace('"kind":"run","ordinal":null', '"ordinal":null,"kind":"run"'),
          'latin1',
        ),
    ],
  ])('%s is refused, and nothing is thrown', async (_, change) => {
    const bytes = Buffer.from(await packAudit(await readStore()))
    expect((await verifyArchive(change(bytes))).offence).not.toBeNull()
  })
})

test('an earlier export finds an end that was cut off, and sessions that are gone', async () => {
  const whole = await verify(await readStore())
  const cut = await verify(await recordsAfter(`delete from act where seq = ${COUNT}`))
  expect(compareArchives(whole, cut)).toEqual({ offence: null, gone: 0 })
  expect(compareArchives(cut, whole)).toMatchObject({ offence: { session: null, seq: COUNT, rule: 'extends' } })
  const short = await recordsAfter(`delete from session_link where ${SECOND} and version > 1;
    delete from event where ${SECOND} and seq > 3; delete from step where ${SECOND} and ordinal > 1`)
  const shortened = await verify(short)
  expect(shortened.offence).toBeNull()
  expect(compareArchives(shortened, whole)).toMatchObject({ offence: { seq: 2, rule: 'extends' } })
  const fewer = await verify({ ...short, sessions: short.sessions.slice(2) })
  expect(compareArchives(fewer, whole)).toEqual({ offence: null, gone: 2 })
})

test('the second verifier agrees', async () => {
  const script = resolve(import.meta.dirname, '../../examples/audit/verify.mjs')
  let written = 0
  const ask = async (...archives: readonly AuditRecords[]): Promise<string> => {
    const files: string[] = []
    for (const records of archives) {
      files.push(join(root, `${written++}.tar`))
      writeFileSync(files.at(-1)!, await packAudit(records))
    }
    return await run(process.execPath, [script, ...files]).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    )
  }
  const records = await readStore()
  const saves = records.sessions.reduce((sum, { links }) => sum + links.length, 0)
  const good = `${COUNT} acts, head ${records.acts.at(-1)!.hash}; ${SESSIONS} sessions, ${saves} saves\n`
  expect(await ask(records, dropContent(records))).toBe(good)
  const short = await recordsAfter(`delete from act where seq = ${COUNT}`)
  expect(await ask(short, records)).toBe(`Act ${COUNT} of the earlier export is not there, or another one.\n`)
  expect(await ask(await recordsAfter(`update act set by = 'eva' where seq = 5`))).toBe(
    'Act 5 is not the one that was recorded.\n',
  )
  expect(await ask(await recordsAfter(`update event set ts = 1 where ${SECOND} and seq = 3`))).toMatch(
    /^The record of the save 1 /,
  )
  expect(await ask(await recordsAfter(`update large_result set result = '""'`))).toMatch(/^A result of the save /)
  expect(await ask(await recordsAfter(`delete from event where ${SECOND} and seq = 5`))).toMatch(
    /^Event 5 .* is missing/,
  )
})
