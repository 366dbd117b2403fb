/** Checks a file of `svc audit export`, on itself alone and against an earlier one. Source: docs/design/audit.md#verify */
import { unpackTar } from 'modern-tar'
import type { SessionId } from '../../../base/ids.ts'
import { createActVerifier, type ChainOffence } from '../../../spec/chain/verify-acts.ts'
import { createCallVerifier, type CallVerifier } from '../../../spec/chain/verify-calls.ts'
import type { SessionRule } from '../../../spec/chain/session-link.ts'
import { createRowVerifier, type RowVerifier } from '../../../spec/chain/verify-rows.ts'
import { createSessionVerifier, type SessionVerifier } from '../../../spec/chain/verify-session.ts'
import { digestOf } from '../../../base/digest.ts'
import { verifySignedHistory } from '../../../spec/trust/signed-history.ts'
import { createSetupVerifier, type UncheckedSetup } from '../../../spec/chain/setup-row.ts'
import {
  ACTS_FILE,
  ENVELOPES,
  parseAct,
  parseChainLine,
  parseRowsLine,
  parseSetupLine,
  ROWS_FILE,
  SESSIONS_FILE,
  SETUP_FILE,
} from './audit-archive.ts'

/** The first thing that is not as it was recorded, or was not allowed. `session` is null for an act. */
export interface AuditOffence {
  readonly session: string | null
  readonly seq: number
  readonly rule: ChainOffence['rule'] | SessionRule | 'checkpoint' | 'signature'
  /** A sentence. */
  readonly what: string
}

export interface AuditCounts {
  readonly acts: number
  readonly sessions: number
  readonly events: number
  /** Rows that later saves overwrite, as they were stored; 0 in exports of earlier versions. */
  readonly rows: number
  /** Rows that operators set up and that are as their last acts left them; 0 in exports of earlier versions. */
  readonly setup: number
  /** Publications and deployments of which the signatures are good. */
  readonly signed: number
  /** Events that an earlier version of svc stored, without a link. */
  readonly uncovered: number
  /** Sessions whose content is erased or left out, so that nothing is known of their calls. */
  readonly withoutContent: number
  /** Calls that were sent, and those of them that people had decided. */
  readonly calls: number
  readonly approved: number
}

/** What became of a check. */
export interface VerifiedArchive {
  readonly counts: AuditCounts
  /** Rows that operators set up and that could not be compared. */
  readonly unchecked: readonly UncheckedSetup[]
  /** Of the acts that are good, in order. */
  readonly hashes: readonly string[]
  /** Of each session that is good, the hashes of its links by version. */
  readonly sessions: ReadonlyMap<string, ReadonlyMap<number, string>>
  readonly offence: AuditOffence | null
}

type MutableCounts = { -readonly [Name in keyof AuditCounts]: AuditCounts[Name] }

/** Never throws: what cannot be read is an offence, too. */
export async function verifyArchive(bytes: Uint8Array): Promise<VerifiedArchive> {
  const counts: MutableCounts = {
    acts: 0,
    sessions: 0,
    events: 0,
    rows: 0,
    setup: 0,
    signed: 0,
    uncovered: 0,
    withoutContent: 0,
    calls: 0,
    approved: 0,
  }
  const hashes: string[] = []
  const unchecked: UncheckedSetup[] = []
  const sessions = new Map<string, Map<number, string>>()
  const offence = (await findOffence(bytes, counts, hashes, unchecked, sessions)) ?? null
  return { counts: { ...counts, acts: hashes.length }, hashes, unchecked, sessions, offence }
}

const broken = (what: string): AuditOffence => ({ session: null, seq: 0, rule: 'archive', what })

async function findOffence(
  bytes: Uint8Array,
  counts: MutableCounts,
  hashes: string[],
  unchecked: UncheckedSetup[],
  sessions: Map<string, Map<number, string>>,
): Promise<AuditOffence | undefined> {
  const entries = await unpackTar(bytes, { strict: true }).catch(() => undefined)
  if (!entries) return broken('It is no tar, or it is damaged.')
  const texts = new Map<string, string>()
  for (const name of [ACTS_FILE, SESSIONS_FILE, ROWS_FILE, SETUP_FILE]) {
    const [file, ...more] = entries.filter(({ header }) => header.name === name)
    // Exports of earlier versions have no rows, and what went on changing is left out.
    if (!file && (name === ROWS_FILE || name === SETUP_FILE)) continue
    if (!file?.data || more.length > 0) return broken(`It does not have one ${name}.`)
    const text = Buffer.from(file.data).toString()
    if (text !== '' && !text.endsWith('\n')) return broken(`The last line of ${name} is cut off.`)
    texts.set(name, text)
  }
  const envelopes = new Map(
    entries
      .filter(({ header }) => header.name.startsWith(ENVELOPES))
      .map(({ data = new Uint8Array() }) => [digestOf(data), Buffer.from(data).toString()]),
  )
  const rows = texts.get(ROWS_FILE)
  return (
    findInActs(texts.get(ACTS_FILE) ?? '', { text: texts.get(SETUP_FILE), envelopes }, hashes, unchecked, counts) ??
    findInSessions(texts.get(SESSIONS_FILE) ?? '', rows === undefined ? undefined : linesIn(rows), counts, sessions)
  )
}

function findInActs(
  text: string,
  setup: { readonly text: string | undefined; readonly envelopes: ReadonlyMap<string, string> },
  hashes: string[],
  unchecked: UncheckedSetup[],
  counts: MutableCounts,
): AuditOffence | undefined {
  const [verifier, rows] = [createActVerifier(), createSetupVerifier()]
  for (const line of linesIn(text)) {
    const act = parseAct(line)
    if (!act)
      return { ...broken(`Line ${hashes.length + 1} of ${ACTS_FILE} is no record of an act.`), seq: hashes.length + 1 }
    const offence = verifier.check(act)
    if (offence) return { session: null, ...offence }
    hashes.push(act.hash)
    rows.add(act)
  }
  if (setup.text === undefined) return undefined
  const lines = [...linesIn(setup.text)].map(parseSetupLine)
  const bad = lines.indexOf(undefined)
  if (bad >= 0) return broken(`Line ${bad + 1} of ${SETUP_FILE} is no row.`)
  const stored = lines.flatMap((row) => row ?? [])
  const offence = rows.check(stored)
  counts.setup = rows.checked
  unchecked.push(...rows.unchecked)
  if (offence) return { session: null, ...offence }
  const history = verifySignedHistory(stored, setup.envelopes, rows.actsOf)
  counts.signed = history.signed
  if (!history.offence) return undefined
  const { row, what } = history.offence
  return { session: null, seq: rows.actsOf(row).at(-1) ?? 0, rule: 'signature', what: `The row "${row}": ${what}.` }
}

interface OpenSession {
  readonly session: SessionId
  readonly chain: SessionVerifier
  readonly calls: CallVerifier
  readonly rows: RowVerifier
  readonly hashes: Map<number, string>
}

function findInSessions(
  text: string,
  rowLines: Iterator<string> | undefined,
  counts: MutableCounts,
  sessions: Map<string, Map<number, string>>,
): AuditOffence | undefined {
  let open: OpenSession | undefined
  let number = 0
  const close = (): AuditOffence | undefined => {
    const offence = open && (open.chain.end() ?? checkRows(open, rowLines, counts))
    if (offence || !open) return offence
    counts.uncovered += open.chain.uncovered
    counts.calls += open.calls.calls
    counts.approved += open.calls.approved
    if (!open.calls.isWhole) counts.withoutContent++
    return undefined
  }
  for (const line of linesIn(text)) {
    number++
    const read = parseChainLine(line)
    if (!read) return broken(`Line ${number} of ${SESSIONS_FILE} is no record of a session.`)
    if ('lastSeq' in read) {
      const offence = close()
      if (offence) return offence
      if (sessions.has(read.session)) return broken(`Session ${read.session} is in ${SESSIONS_FILE} twice.`)
      const [chain, calls, rows] = [createSessionVerifier(read), createCallVerifier(), createRowVerifier(read.session)]
      open = { session: read.session, chain, calls, rows, hashes: new Map() }
      sessions.set(read.session, open.hashes)
      counts.sessions++
      continue
    }
    if (!open) return broken(`Line ${number} of ${SESSIONS_FILE} belongs to no session.`)
    const { link, record } = read
    const offence = open.chain.check(link, record) ?? open.calls.check(link)
    if (offence) return offence
    open.rows.add(link)
    counts.events += link.events.length
    open.hashes.set(link.version, link.hash)
  }
  const last = close()
  if (last || !rowLines || rowLines.next().done === true) return last
  return broken(`${ROWS_FILE} goes on after the rows of the last session.`)
}

/** Each session has a line of its rows, in the same order. */
function checkRows(
  { session, rows }: OpenSession,
  lines: Iterator<string> | undefined,
  counts: MutableCounts,
): AuditOffence | undefined {
  if (!lines) return undefined
  const { value, done } = lines.next()
  const read = done === true ? undefined : parseRowsLine(value as string)
  if (read?.session !== session) return broken(`${ROWS_FILE} has no line for session ${session} in its place.`)
  if (read.rows === null) return undefined
  const offence = rows.check(read.rows)
  counts.rows += read.rows.length - rows.uncovered
  return offence
}

/** Without copying the text. */
function* linesIn(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at)
    yield text.slice(at, end)
    at = end + 1
  }
}

/** The first act or save that an earlier export has otherwise, and the sessions that are there no more. */
export function compareArchives(
  { hashes, sessions }: VerifiedArchive,
  old: VerifiedArchive,
): { readonly offence: AuditOffence | null; readonly gone: number } {
  const found = (session: string | null, seq: number, what: string) => ({
    offence: { session, seq, rule: 'extends', what } as const,
    gone: 0,
  })
  const at = old.hashes.findIndex((hash, index) => hashes[index] !== hash)
  const isThere = at < hashes.length
  if (at >= 0)
    return found(
      null,
      at + 1,
      `Act ${at + 1} ${isThere ? 'is another one in' : 'is there no more, but in'} the earlier export.`,
    )
  for (const [session, links] of old.sessions) {
    const now = sessions.get(session)
    if (!now) continue
    for (const [version, hash] of links)
      if (now.get(version) !== hash)
        return found(
          session,
          version,
          `The save ${version} of session ${session} is another one in the earlier export, or is gone.`,
        )
  }
  return { offence: null, gone: [...old.sessions.keys()].filter((session) => !sessions.has(session)).length }
}
