/**
 * Whoever changes the store behind the back of the server is found: each column of each table is changed, and a row of each is removed
 * and added. What an audit says nothing of is listed here, with the reason. Source: docs/design/audit.md#rows
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packAudit, type AuditRecords } from '../../src/cli/commands/operate/audit-archive.ts'
import { compareArchives, verifyArchive, type VerifiedArchive } from '../../src/cli/commands/operate/verify-archive.ts'
import { openAuditedStore, type AuditedStore } from './audited-store.ts'

/** Tables whose rows make no claim about what happened. */
const TABLES_WITHOUT_CLAIM: Readonly<Record<string, string>> = {
  // Counts, indexes and copies, which are made of other rows.
  session_count: 'a kept count of sessions',
  session_tag: 'an index over the tags of sessions',
  run_input: 'an index over words',
  run_input_data: 'an index over words',
  run_input_idx: 'an index over words',
  run_input_config: 'an index over words',
  run_output: 'an index over words',
  run_output_data: 'an index over words',
  run_output_idx: 'an index over words',
  run_output_config: 'an index over words',
  file_total: 'a kept sum of files',
  plan_day: 'a kept sum of the day',
  cost_day: 'a kept sum of the day',
  kept_call: 'a short copy of calls whose sessions retention has deleted, chain and all',
  // What is to be done, not what was done.
  timer: 'when the engine looks at a run again',
  notice: 'what channels are to be told; what people answer is in votes and acts',
  trace_mark: 'how far spans are exported',
  history_fence: 'a number that makes a writer read again',
  idempotency: 'answers that a repeated request gets for a day',
  rate_bucket: 'when a limit allows the next start',
  plan_reservation: 'what completions under way may spend',
  task_claim: 'who looks at a task, for minutes',
  one_time_token: 'a token for minutes; what it was used for is an act',
  restored_session: 'what a restore holds; its release is an act',
  restored_trigger: 'what a restore holds; its release is an act',
  restore: 'when the store was restored; its release is an act',
  // What an author wrote, and what it was measured by; what runs is the version, which is checked.
  source_text: 'what an author wrote; what runs is the version',
  source_file: 'what an author wrote; what runs is the version',
  source_member: 'what an author wrote; what runs is the version',
  file: 'acts have what operators kept; what a run read is in its steps',
  checkpoint_report: 'when effects may leave; what was signed is in the log of checkpoints',
  evaluation: 'what somebody measured of versions before they run; no run follows from it',
}

/** Columns of all other tables that make no claim. */
const COLUMNS_WITHOUT_CLAIM: Readonly<Record<string, string>> = {
  'session.version': 'grows with each save; the links have the version of theirs',
  'session.input_digest': 'an index: the digest of the input, for lists',
  'session.output_digest': 'an index: the digest of the output, for lists',
  'session.busy': 'whether the engine has something to do',
  'session.owner': 'which process works on it',
  'session.epoch': 'which process works on it',
  'session.lease_until': 'which process works on it',
  'session.title': 'a label that people change; acts have who did',
  'session.metadata': 'labels that people change; acts have who did',
  'session.tags': 'labels that people change; acts have who did',
  'session.legal_hold': 'acts have who set it and who took it away',
  'session.erased_at': 'says that content is gone, which links without a salt show by themselves',
  'run.tail': 'an index: the end of its id',
  'user_task.tail': 'an index: the end of its id',
  'agent.sessions': 'a kept count',
  'agent.runs': 'a kept count',
  'api_key.last_used_at': 'use, not set up',
  'operator_key.last_used_at': 'use, not set up',
  'console_session.last_used_at': 'use, not set up',
  'passkey.last_used_at': 'use, not set up',
  'passkey.sign_count': 'use, not set up',
  'passkey.is_backed_up': 'use, not set up: the authenticator tells it',
  'run_trigger.ticked_at': 'how far a schedule has come',
  'run_trigger.refusal': 'why the last tick started no run',
  'standing_act.n': 'the order of the acts of a name, which has one here',
  'effect.state': 'what became of the call is in its row and its steps',
  'effect.not_after': 'how long an attempt of the call may still arrive',
  'effect.result': 'a copy of the result of the call',
  'effect.holds': 'an index: which call of a key is the last',
  'effect.released_at': 'its release is an act',
  'effect.released_by': 'its release is an act',
  'effect.release_reason': 'its release is an act',
  'run.input': 'the input of the newest root run stands with its session, and is checked there',
}

/** Each has 27 events. */
const SESSIONS = Number(process.env['SVC_AUDIT_SESSIONS'] ?? 3)

let audited: AuditedStore
let before: VerifiedArchive
beforeAll(async () => {
  audited = await openAuditedStore(SESSIONS)
  before = await verify(await audited.readStore())
})
afterAll(() => audited.close())

const verify = async (records: AuditRecords): Promise<VerifiedArchive> => verifyArchive(await packAudit(records))

/** As `svc audit verify NEW --extends OLD` does. */
async function findOffence(change: string, ...values: unknown[]): Promise<string | undefined> {
  const now = await verify(await audited.recordsAfter(change, ...values))
  const { offence, gone } = compareArchives(now, before)
  return now.offence?.rule ?? offence?.rule ?? (gone > 0 ? 'gone' : undefined)
}

const tables = (): readonly string[] =>
  audited.db
    .prepare<[], string>(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`,
    )
    .pluck()
    .all()
const columnsOf = (table: string) =>
  audited.db.pragma(`table_info(${table})`) as readonly { name: string; type: string; pk: number }[]

/** Of the second session; of calls and steps, one that is over. */
const SECOND = '(select n from session order by n limit 1 offset 1)'
const ROWS: Readonly<Record<string, string>> = {
  act: 'seq = 11',
  session: `n = ${SECOND}`,
  run: `session_n = ${SECOND}`,
  call: `session_n = ${SECOND} and call_id = (select max(call_id) from call where session_n = ${SECOND})`,
  user_task: `session_n = ${SECOND}`,
  vote: `task_n = (select n from user_task where session_n = ${SECOND}) and approver like '%ana%'`,
  event: `session_n = ${SECOND} and seq = (select min(seq) from event where session_n = ${SECOND} and ordinal is null)`,
  step: `session_n = ${SECOND} and ordinal =
    (select max(ordinal) from step where session_n = ${SECOND} and type = 'ToolResult' and result_digest is null)`,
  effect: `session_id = (select id from session where n = ${SECOND})`,
  session_link: `session_n = ${SECOND} and version =
    (select max(version) from session_link where session_n = ${SECOND} and steps > 0)`,
  large_result: 'true',
  // What operators set up.
  agent: `name = 'pay.clerk'`,
  version: `label = '1.0.0' and yanked = 1`,
  document: 'true',
  yanked_document: 'true',
  deployment: `message = 'The first.'`,
  run_trigger: 'true',
  api_key: 'true',
  operator_key: 'true',
  passkey: 'true',
  console_session: 'true',
  standing_act: 'true',
  pause_act: 'paused = 1',
  trust_document: 'true',
  attestation: 'true',
}

const isJson = (table: string, name: string): boolean =>
  /^(content|hidden|data|result|state|usage|input|output|body|arguments|start_context|cost|starter|origin|row_digests)$/.test(
    name,
  ) && !(table === 'call' && name === 'state')

test('each table is checked, or listed with the reason', () => {
  expect(tables().filter((table) => !(table in ROWS) && !(table in TABLES_WITHOUT_CLAIM))).toEqual([])
  const names = new Set(tables())
  expect(Object.keys({ ...ROWS, ...TABLES_WITHOUT_CLAIM }).filter((table) => !names.has(table))).toEqual([])
})

test('a changed value of each column is found, but for those that are listed', async () => {
  const missed: string[] = []
  for (const [table, where] of Object.entries(ROWS))
    for (const { name, type } of columnsOf(table)) {
      const other = isJson(table, name) ? '{"other":1}' : 'other'
      const now = audited.db.prepare(`select ${name} from ${table} where ${where}`).pluck().get()
      const number = name !== 'n' && (now === 0 || now === 1) ? 1 - now : 999
      const value = type === 'INTEGER' ? number : other
      const { changes } = audited.db.prepare(`update ${table} set ${name} = ${name} where ${where}`).run()
      expect([table, changes]).toEqual([table, 1])
      if ((await findOffence(`update ${table} set ${name} = ? where ${where}`, value)) === undefined)
        missed.push(`${table}.${name}`)
    }
  expect(missed.toSorted()).toEqual(Object.keys(COLUMNS_WITHOUT_CLAIM).toSorted())
}, 600_000)

test('a row that is removed is found', async () => {
  for (const [table, where] of Object.entries(ROWS))
    expect([table, await findOffence(`delete from ${table} where ${where}`)]).not.toEqual([table, undefined])
})

test('a row that is added is found', async () => {
  for (const [table, where] of Object.entries(ROWS)) {
    // A result that no step names is no part of any session, a session without events has done nothing, and a yank needs its document.
    // A key that nobody took only makes svc ask a person.
    if (table === 'effect') continue
    if (table === 'large_result' || table === 'session' || table === 'yanked_document') continue
    const columns = columnsOf(table).filter(({ name }) => name !== 'n')
    const keys: Readonly<Record<string, string>> = {
      id: `'other'`,
      seq: `(select max(seq) + 1 from ${table})`,
      label: `'other'`,
      hash: `'other'`,
      digest: `'other'`,
      credential_id: `'other'`,
      sign_in: `'other'`,
      revision: '999',
      ordinal: '(select max(ordinal) + 1 from step)',
      sequence: '999',
      call_id: `'other'`,
      version: '999',
      approver: `'operator:eva'`,
    }
    const given = columns.map(({ name }) => keys[name] ?? name)
    const added = `insert into ${table} (${columns.map(({ name }) => name).join(', ')})
      select ${given.join(', ')} from ${table} where ${where}`
    expect([table, await findOffence(added)]).not.toEqual([table, undefined])
  }
})
