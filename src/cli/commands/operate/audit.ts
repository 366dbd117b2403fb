/** `svc audit export` and `svc audit verify`. Source: docs/design/audit.md#the-export */
import { resolve } from 'node:path'
import { digestOf } from '../../../base/digest.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { ActRecord } from '../../../spec/people/act.ts'
import { readKeyLine, type CheckpointKey } from '../../../spec/chain/checkpoint.ts'
import type { SetupRow, UncheckedSetup } from '../../../spec/chain/setup-row.ts'
import type { ChainedSession, SessionLink, SessionRows } from '../../../spec/chain/session-link.ts'
import type { auditExportAnswer, auditVerifyAnswer } from '../../answers/operate.ts'
import { readUserFile } from '../../files/read-file.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { momentOptions } from '../../project/request-command.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { countNoun } from '../../shell/counted.ts'
import {
  packAudit,
  dropContent,
  type AuditRecords,
  type AuditSelection,
  type ExportedSession,
} from './audit-archive.ts'
import { compareArchives, verifyArchive, type VerifiedArchive } from './verify-archive.ts'
import { checkLog, type CheckedLog } from './verify-log.ts'

export async function auditExport(call: CommandContext<ValueOf<typeof auditExportAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const file = given.argument(0)!
  const moments = momentOptions(call, 'since', 'until')
  const selection = {
    agent: given.text('agent') ?? null,
    by: given.text('by') ?? null,
    since: moments.since ?? null,
    until: moments.until ?? null,
    content: !given.flag('withoutContent'),
  }
  const records = await withOperator(call, (operator) => readRecords(operator, selection))
  const bytes = await packAudit(selection.content ? records : dropContent(records))
  await writeUserFile(resolve(cwd, file), bytes, 0o600)
  const head = records.acts.at(-1)?.hash ?? null
  const [acts, sessions] = [records.acts.length, records.sessions.length]
  if (mode.json) return await out.json({ file, acts, sessions, head, digest: digestOf(bytes) })
  const counted = `${countNoun(acts, 'act')}, ${countNoun(sessions, 'session')}`
  out.line(`${counted} → ${file}${head === null ? '' : `, head ${head}`}`)
}

const PAGE = 500
/** Of links, each of which has the content of its steps. */
const PAGE_OF_LINKS = 100

async function readRecords(operator: OperatorClient, selection: AuditSelection): Promise<AuditRecords> {
  const { agent, by, since, until } = selection
  const given = Object.entries({ agent, by, since, until }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  )
  // Sessions first: what their acts tell of is there by then.
  const chained = await readSessions(operator, Object.fromEntries(given))
  const sessions: ExportedSession[] = []
  for (const { session: id } of chained) {
    // The cast holds: the answer was checked against its schema.
    const { session, rows } = (await operator.call('GET /audit/sessions/:id/rows', { id })) as SessionRows
    sessions.push({ session, links: await readLinks(operator, session), rows })
  }
  return { selection, sessions, ...(await readActsAndSetup(operator)) }
}

/** Of acts that follow each other so fast that what they set up is never read between two of them. */
const MOST_READS = 5

async function readActsAndSetup(operator: OperatorClient): Promise<Pick<AuditRecords, 'acts' | 'setup'>> {
  const acts = [...(await readActs(operator, 0))]
  for (let read = 1; ; read++) {
    const setup = await readPages<SetupRow>(PAGE, async (last) => {
      const query = { take: String(PAGE), ...(last && { after: last.name }) }
      return (await operator.call('GET /audit/setup', { query })).items
    })
    const later = await readActs(operator, acts.at(-1)?.seq ?? 0)
    acts.push(...later)
    const isSame = later.every(({ rowDigests = [] }) => rowDigests.length === 0)
    if (isSame || read === MOST_READS) return { acts, setup: isSame ? setup : null }
  }
}

/** Sessions and where their chains end, oldest first. */
export const readSessions = (
  operator: OperatorClient,
  given: Readonly<Record<string, string>>,
): Promise<readonly ChainedSession[]> =>
  readPages<ChainedSession>(PAGE, async (last) => {
    const after = last && { after: `${last.startedAt} ${last.session}` }
    const query = { ...given, take: String(PAGE), ...after }
    return (await operator.call('GET /audit/sessions', { query })).items
  })

/** Acts with a greater number, in order. */
export const readActs = (operator: OperatorClient, after: number): Promise<readonly ActRecord[]> =>
  readPages<ActRecord>(PAGE, async (last) => {
    const query = { after: String(last?.seq ?? after), take: String(PAGE) }
    return (await operator.call('GET /acts/records', { query })).items
  })

/** Up to the last link that the session had when its rows were read: it may go on meanwhile. */
async function readLinks(
  operator: OperatorClient,
  { session, headVersion }: ChainedSession,
): Promise<readonly SessionLink[]> {
  const links = await readPages<SessionLink>(PAGE_OF_LINKS, async (last) => {
    const query = { after: String(last?.version ?? 0), take: String(PAGE_OF_LINKS) }
    return (await operator.call('GET /audit/sessions/:id', { id: session, query })).items
  })
  return links.filter(({ version }) => version <= (headVersion ?? 0))
}

async function readPages<Item>(
  size: number,
  read: (last: Item | undefined) => Promise<readonly unknown[]>,
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (;;) {
    // The cast holds: the answer was checked against its schema.
    const page = (await read(items.at(-1))) as readonly Item[]
    items.push(...page)
    if (page.length < size) return items
  }
}

/** Of an export: some hundred thousand sessions. */
export const MOST_MIB = 1024

/** Exit code 1 where something is not as it was recorded, or was not allowed. */
export async function auditVerify(call: CommandContext<ValueOf<typeof auditVerifyAnswer>>): Promise<number> {
  const { given, mode, out, cwd } = call
  const file = given.argument(0)!
  const earlier = given.text('extends')
  const verify = async (named: string): Promise<VerifiedArchive> =>
    await verifyArchive(await readUserFile(resolve(cwd, named), named, MOST_MIB))
  const verified = await verify(file)
  const old = earlier === undefined ? undefined : await verify(earlier)
  const logged = await readSigned(call)
  const compared = old ? compareArchives(verified, old) : { offence: null, gone: 0 }
  const signed = logged && checkLog(logged.text, logged.keys, verified)
  const offence = verified.offence ?? old?.offence ?? compared.offence ?? signed?.offence ?? null
  const { counts, hashes, unchecked } = verified
  const head = hashes.at(-1) ?? null
  const checkpoints = signed?.checkpoints ?? 0
  const gone = compared.gone + (signed?.missing ?? 0)
  if (mode.json) await out.json({ ok: offence === null, ...counts, unchecked, checkpoints, gone, head, offence })
  else if (offence === null) for (const line of linesOfResult(verified, head, compared.gone, signed)) out.line(line)
  else out.line(`${offence.rule}: ${offence.what}`)
  return offence === null ? 0 : 1
}

/** The log of checkpoints, and the keys that the person who checks trusts. */
async function readSigned({
  given,
  cwd,
}: Pick<CommandContext, 'given' | 'cwd'>): Promise<
  { readonly text: string; readonly keys: readonly CheckpointKey[] } | undefined
> {
  const [log, trust] = [given.text('log'), given.text('trust')]
  if (log === undefined && trust === undefined) return undefined
  if (log === undefined || trust === undefined)
    throw usageFailure(
      'A log is checked with the keys that may sign it.',
      'svc audit verify FILE --log LOG --trust KEYS',
    )
  const lines = (await readUserFile(resolve(cwd, trust), trust)).toString().split('\n')
  const keys = lines.flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const key = readKeyLine(line)
    if (!key) throw usageFailure(`Line ${index + 1} of ${trust} is no key: svc audit checkpoint prints its line.`)
    return [key]
  })
  return { text: (await readUserFile(resolve(cwd, log), log, MOST_MIB)).toString(), keys }
}

/** Of rows in the answer for people; all of them are in that of `--json`. */
const MOST_NAMED = 20

function linesOfUnchecked(rows: readonly UncheckedSetup[]): readonly string[] {
  if (rows.length === 0) return []
  const named = rows.slice(0, MOST_NAMED).map(({ row, act }) => {
    const why =
      act === null ? 'acts of an earlier version of svc do not name it' : `the content of act ${act} was erased`
    return `  ${safeText(row)}: ${why}`
  })
  const more = rows.length - named.length
  return [
    `${countNoun(rows.length, 'row')} of them not compared:`,
    ...named,
    ...(more > 0 ? [`  and ${more} more (--json)`] : []),
  ]
}

function linesOfResult(
  { counts, unchecked }: VerifiedArchive,
  head: string | null,
  gone: number,
  signed: CheckedLog | undefined,
): readonly string[] {
  const { acts, sessions, events, rows, setup, uncovered, withoutContent, calls, approved } = counts
  return [
    `${countNoun(acts, 'act')}, whole and in order${head === null ? '' : `, head ${head}`}`,
    `${countNoun(setup, 'row')} of what operators set up, as their last acts left them`,
    ...linesOfUnchecked(unchecked),
    ...(counts.signed > 0 ? [`${countNoun(counts.signed, 'signed statement')} of people who might`] : []),
    `${countNoun(sessions, 'session')} with ${countNoun(events, 'event')}, whole and in order`,
    `${countNoun(rows, 'row')} of them as their last saves left them`,
    `${countNoun(calls, 'call')} sent, each after its decision; people approved ${approved}`,
    ...(withoutContent > 0
      ? [`${countNoun(withoutContent, 'session')} without content: nothing is known of their calls`]
      : []),
    ...(uncovered > 0 ? [`${countNoun(uncovered, 'event')} from before the chain of their session: not checked`] : []),
    ...(signed
      ? [
          `${countNoun(signed.checkpoints, 'checkpoint')}, signed up to act ${signed.acts} and for ${countNoun(signed.sessions, 'session')}, ${signed.missing} of them not in this file`,
        ]
      : []),
    ...(gone > 0 ? [`${countNoun(gone, 'session')} of the earlier export not in this one`] : []),
  ]
}
