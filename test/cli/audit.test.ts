/** An export is checked without a server: whatever is changed later is found. Source: docs/design/audit.md#verify */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import {
  packAudit,
  dropContent,
  ROWS_FILE,
  type AuditRecords,
  type ExportedSession,
} from '../../src/cli/commands/operate/audit-archive.ts'
import { compareArchives, verifyArchive } from '../../src/cli/commands/operate/verify-archive.ts'
import { packFiles } from '../../src/compile/package/archive.ts'
import { createSetupVerifier } from '../../src/spec/chain/setup-row.ts'
import type { ActRecord } from '../../src/spec/people/act.ts'
import { CHAIN_START, hashAfter } from '../../src/spec/chain/hash-chain.ts'
import { recordOfLink } from '../../src/spec/chain/verify-session.ts'
import { digestOfContent, digestOfRow, LINES_OF_STEP, type SessionLink } from '../../src/spec/chain/session-link.ts'
import { COUNT, openAuditedStore, type AuditedStore } from './audited-store.ts'
import { svc } from './recording-io.ts'

const run = promisify(execFile)
/** The act that is changed. */
const CHANGED = 11
const SESSIONS = 4

let audited: AuditedStore
beforeAll(async () => {
  audited = await openAuditedStore(SESSIONS)
})
afterAll(() => audited.close())
const readStore = (): Promise<AuditRecords> => audited.readStore()
const recordsAfter = (change: string, ...values: unknown[]): Promise<AuditRecords> =>
  audited.recordsAfter(change, ...values)

const verify = async (records: AuditRecords) => verifyArchive(await packAudit(records))
const findOffence = async (change: string, ...values: unknown[]) =>
  (await verify(await recordsAfter(change, ...values))).offence

test('what nobody changed is whole, with its content and without, and is the same bytes', async () => {
  const records = await readStore()
  const { counts, hashes, unchecked, offence } = await verify(records)
  const events = records.sessions.reduce((sum, { session }) => sum + session.lastSeq, 0)
  expect(offence).toBeNull()
  expect(unchecked).toEqual([])
  expect(hashes).toEqual(records.acts.map(({ hash }) => hash))
  const about = { acts: COUNT, sessions: SESSIONS, events, uncovered: 0 }
  const rows = SESSIONS * ['session', 'start', 'input', 'run', 'call', 'call', 'task', 'vote', 'vote', 'effect'].length
  expect(counts).toEqual({
    ...about,
    rows,
    setup: records.setup!.length,
    signed: 1,
    withoutContent: 0,
    calls: 2 * SESSIONS,
    approved: SESSIONS,
  })
  const bare = await verify(dropContent(records))
  expect(bare).toMatchObject({ offence: null, counts: { ...about, withoutContent: SESSIONS, calls: 0 } })
  expect(Buffer.compare(await packAudit(records), await packAudit(await readStore()))).toBe(0)
})

/** The second session. */
const SECOND = 'session_n = (select n from session order by n limit 1 offset 1)'

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
       counted, content, content_digest, salt, hash, row_digests from act where seq = ${COUNT}`,
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

test('links of earlier versions, which say nothing of rows, and exports without rows are checked as before', async () => {
  const records = await readStore()
  const sessions = records.sessions.map(({ session, links: given }) => {
    let head = CHAIN_START
    const links = given.map(({ rows: _rows, ...link }): SessionLink => {
      head = hashAfter(head, recordOfLink(link))
      return { ...link, hash: head }
    })
    return { session: { ...session, head }, links }
  })
  const rows = records.sessions.map((each) => each.rows)
  const old = { ...records, sessions: sessions.map((each, at) => ({ ...each, rows: rows[at]! })) }
  expect(await verify(old)).toMatchObject({ offence: null, counts: { sessions: SESSIONS, rows: 0 } })
  const entries = await unpackTar(await packAudit(old))
  const files = entries.filter(({ header }) => header.name !== ROWS_FILE)
  const bytes = await packFiles(files.map(({ header, data }) => [header.name, Buffer.from(data!)]))
  expect(await verifyArchive(bytes)).toMatchObject({ offence: null, counts: { sessions: SESSIONS, rows: 0 } })
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
  const gone = await recordsAfter('update act set content = null, salt = null where seq > 1')
  const { counts, unchecked, offence } = await verify(gone)
  expect(offence).toBeNull()
  // Each row is compared, or named with the last act that named it; those of the first act are compared.
  const actOf = (row: string) =>
    gone.acts.findLast(({ rowDigests = [] }) => rowDigests.some(([name]) => name === row))!.seq
  const named = gone.setup!.map(({ name: row }) => ({ row, act: actOf(row) })).filter(({ act }) => act > 1)
  expect([unchecked, counts.setup]).toEqual([named, gone.setup!.length - named.length])
  expect(counts.setup).toBeGreaterThan(0)
  writeFileSync(join(audited.root, 'erased.tar'), await packAudit(gone))
  const { stdout } = await svc(['audit', 'verify', 'erased.tar'], { cwd: audited.root })
  const lines = named.map(({ row, act }) => `  ${row}: the content of act ${act} was erased\n`)
  expect(stdout).toContain(`${named.length} rows of them not compared:\n${lines.join('')}`)
  const erased = await recordsAfter(`update session_link set salt = null where ${SECOND};
    update step set content = 'null', hidden = null, result_digest = null, error = null where ${SECOND}`)
  expect(await verify(erased)).toMatchObject({ offence: null, counts: { withoutContent: 1 } })
})

test('rows that acts of an earlier version of svc may have changed are named', () => {
  const verifier = createSetupVerifier()
  const act = { seq: 1, kind: 'key.created', salt: 'salt' } as ActRecord
  verifier.add({ ...act, rowDigests: [['key a', 'digest']] })
  verifier.add({ ...act, seq: 2 })
  verifier.add({ ...act, seq: 3, rowDigests: [['key b', digestOfRow('salt', ['b'])]] })
  const rows = ['a', 'b'].map((name) => ({ name: `key ${name}`, lines: [name] }))
  expect(verifier.check(rows)).toBeUndefined()
  expect([verifier.checked, verifier.unchecked]).toEqual([1, [{ row: 'key a', act: null }]])
})

const script = resolve(import.meta.dirname, '../../examples/audit/verify.mjs')
let written = 0
/** What the second verifier says of an export, and an earlier one. */
async function askSecond(...archives: readonly AuditRecords[]): Promise<string> {
  const files: string[] = []
  for (const records of archives) {
    files.push(join(audited.root, `${written++}.tar`))
    writeFileSync(files.at(-1)!, await packAudit(records))
  }
  return await run(process.execPath, [script, ...files]).then(
    ({ stdout }) => stdout,
    (error: { stderr: string }) => error.stderr,
  )
}

/** The first session with another content: its chain was written anew, so that only its calls say what is wrong. */
async function rewritten(change: (step: string, content: JsonObject) => JsonObject | undefined): Promise<AuditRecords> {
  const { sessions, ...records } = await readStore()
  const [{ session, links: given }, ...others] = sessions as [ExportedSession, ...ExportedSession[]]
  let head = CHAIN_START
  const links = given.map((link): SessionLink => {
    const content = link.content!.map((line, at) => {
      const step = link.steps[Math.floor(at / LINES_OF_STEP)]
      // A digest is no JSON, and stays.
      const read = line.startsWith('sha256:') ? null : (JSON.parse(line) as JsonObject | null)
      if (!step) {
        const [data] = [read].flat() as (JsonObject | null)[]
        const task = data?.['task'] as JsonObject | undefined
        return task ? JSON.stringify([{ task: change('task', task) ?? task }]) : line
      }
      const name = ['', undefined, '.hidden'][at % LINES_OF_STEP]
      return read && name !== undefined ? JSON.stringify(change(`${step.type}${name}`, read) ?? read) : line
    })
    const changed = { ...link, content, contentDigest: digestOfContent(link.salt!, content) }
    head = hashAfter(head, recordOfLink(changed))
    return { ...changed, hash: head }
  })
  return { ...records, sessions: [{ session: { ...session, head }, links, rows: null }, ...others] }
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
    'an approval by somebody without the role',
    'approver',
    (type) =>
      type === 'UserTaskRes.hidden'
        ? { roles: { 'operator:ana@acme.example': ['finance'], 'operator:ben@acme.example': ['legal'] } }
        : undefined,
  ],
  [
    'approvals by people whose roles nobody knows',
    'approver',
    (type) => (type === 'UserTaskRes.hidden' ? { roles: {} } : undefined),
  ],
  [
    'an approval by who started the run, spelt otherwise',
    'approver',
    (type, content) =>
      type === 'UserTaskReq.hidden' ? { ...content, not_by: 'operator:Ana@ACME.example' } : undefined,
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
  const records = await rewritten(change)
  expect((await verify(records)).offence?.rule ?? null).toBe(rule)
  expect(await askSecond(records)).toMatch(rule === null ? new RegExp(`^${COUNT} acts, `) : /^A call of session /)
})

describe('an archive that is', () => {
  test.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['empty', () => Buffer.alloc(0)],
    ['of something else', () => Buffer.from('acts.jsonl')],
    ['cut off', (bytes) => bytes.subarray(0, 5000)],
    ['cut off in its sessions', (bytes) => bytes.subarray(0, bytes.length - 100_000)],
    ['changed in a line', (bytes) => Buffer.from(bytes.toString('latin1').replace('"act 30"', '"act 31"'), 'latin1')],
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
    delete from event where ${SECOND} and seq > 3; delete from step where ${SECOND} and ordinal > 1;
    delete from vote where task_n in (select n from user_task where ${SECOND}); delete from user_task where ${SECOND};
    delete from call where ${SECOND}`)
  const shortened = await verify(short)
  expect(shortened.offence).toBeNull()
  expect(compareArchives(shortened, whole)).toMatchObject({ offence: { seq: 2, rule: 'extends' } })
  const fewer = await verify({ ...short, sessions: short.sessions.slice(2) })
  expect(compareArchives(fewer, whole)).toEqual({ offence: null, gone: 2 })
})

test('the second verifier agrees', async () => {
  const ask = askSecond
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
  const row = 'of (?:session .*|what operators set up) is not as it was left'
  const changes = [
    `update call set state = 'denied' where ${SECOND}`,
    `update vote set approved = 0`,
    `update api_key set agent_id = 'other'`,
    `update passkey set removed_at = null, operator = 'eva@acme.example'`,
  ]
  for (const change of changes) expect(await ask(await recordsAfter(change))).toMatch(new RegExp(`^The row .* ${row}`))
  expect(await ask(await recordsAfter(`delete from vote where n = 2`))).toMatch(/^The row "task .*|^A row of session/)
  expect(await ask(await recordsAfter(`delete from run_trigger`))).toMatch(
    /^A row of what operators set up is gone: trigger /,
  )
  expect(readFileSync(script, 'utf8').split('\n').length - 1).toBeLessThanOrEqual(200)
})
