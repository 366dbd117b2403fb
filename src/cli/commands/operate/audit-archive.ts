/** The file of `svc audit export`: a tar with the same bytes for the same records. Source: docs/design/audit.md#the-export */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { fromJson, toJson } from '../../../base/json/typed-json.ts'
import { packFiles } from '../../../compile/package/archive.ts'
import type { ActRecord } from '../../../spec/people/act.ts'
import type { ChainedRow, ChainedSession, SessionLink } from '../../../spec/chain/session-link.ts'
import type { SetupRow } from '../../../spec/chain/setup-row.ts'

export const ACTS_FILE = 'acts.jsonl'
export const SESSIONS_FILE = 'sessions.jsonl'
export const ROWS_FILE = 'rows.jsonl'
export const SETUP_FILE = 'setup.jsonl'
/** Folder of what was signed. */
export const ENVELOPES = 'envelopes/'

/** What an export was asked for. */
export interface AuditSelection {
  readonly agent: string | null
  readonly by: string | null
  readonly since: string | null
  readonly until: string | null
  readonly content: boolean
}

export interface ExportedSession {
  readonly session: ChainedSession
  readonly links: readonly SessionLink[]
  /** Null where content is left out, or the session went on while they were read. */
  readonly rows: readonly ChainedRow[] | null
}

/** A line of `ROWS_FILE`: each session has one, in the order of `SESSIONS_FILE`. */
export interface ExportedRows {
  readonly rows: readonly ChainedRow[] | null
  readonly session: string
}

export interface AuditRecords {
  readonly selection: AuditSelection
  readonly acts: readonly ActRecord[]
  readonly sessions: readonly ExportedSession[]
  /** What operators set up; null where content is left out, or it changed each time while it was read. */
  readonly setup: readonly SetupRow[] | null
}

const README = `What operators did and what sessions recorded, from a workspace of svc.

selection.json  what was asked for. Acts are all there are; sessions are those that the selection names.
acts.jsonl      a line of JSON for each act, in the order in which they were recorded.
sessions.jsonl  for each session a line that names it and its last event and step, then a line for each save.
rows.jsonl      for each session a line with its rows that saves overwrite, as they were stored when the export was made.
setup.jsonl     a line for each row that operators set up (versions, deployments, keys, triggers, …), as it was stored then.
envelopes/      trust documents and statements of publications and deployments as they were signed (DSSE).

hash is the SHA-256, in hexadecimal, of the hash of the line before (64 zeros for the first act, and for the first save of each
session), a line feed, and the record in canonical JSON (RFC 8785). The record of an act is its line without content, salt and
hash; that of a save is contentDigest, events, rows, session, steps and version of its line. contentDigest is the SHA-256 of the salt,
a line feed and the content: of an act its text, of a save its texts joined by line feeds. Content and salt are null where they
were left out or erased. The texts of a save are four for each step (content, digest of a result that is stored separately, what
only the engine reads, error) and then two for each event (data, error of the step whose end it shows).

rows of a save names the rows that it wrote, each with the SHA-256 (base64url) of the salt, a line feed, and the lines of the row
joined by line feeds; an empty text stands for a row of what is at work. The last save that names a row says what it has to be.

rowDigests of an act names the rows of setup.jsonl that it changed in the same way; an empty text says that it removed the row. The last
act that names a row says what it has to be.

svc audit verify FILE checks all of this, and whether each call that was sent had its decision and approval. It needs no server.
examples/audit/verify.mjs in the source of svc is a second program that does.

What this proves: the records are those of chains, whole from the first to the last. What it does not: that nobody wrote whole
chains anew, or cut off their ends. Keep an export where the operators cannot write, and check the next one against it:
svc audit verify NEW --extends OLD
`

/** The members of each link are in order, so that its JSON is canonical. */
const linesOf = ({ session, links }: ExportedSession): string =>
  [canonicalJson(toJson(session)), ...links.map((link) => JSON.stringify(inOrder(link)))].join('\n') + '\n'

const lineOfRows = ({ session: { session }, rows }: ExportedSession): string =>
  `${JSON.stringify({ rows: rows && rows.map(({ name, lines }) => ({ lines, name })), session } satisfies ExportedRows)}\n`

const lineOfSetup = ({ name, lines }: SetupRow): string => `${JSON.stringify({ lines, name })}\n`

/** A trust document and a statement that is kept have a file each, as they were signed. */
const setupFiles = (setup: readonly SetupRow[]): readonly (readonly [string, Uint8Array])[] => [
  [SETUP_FILE, Buffer.from(setup.map(lineOfSetup).join(''))],
  ...setup.flatMap(({ name, envelope }): readonly (readonly [string, Uint8Array])[] =>
    envelope === undefined
      ? []
      : [[`${ENVELOPES}${name.replace(/^(\w+) (?:sha256:)?/, '$1-')}.dsse.json`, Buffer.from(envelope)]],
  ),
]

export const packAudit = ({ selection, acts, sessions, setup }: AuditRecords): Promise<Uint8Array> =>
  packFiles([
    ['README.md', Buffer.from(README)],
    ['selection.json', Buffer.from(`${canonicalJson({ ...selection })}\n`)],
    [ACTS_FILE, Buffer.from(acts.map((act) => `${canonicalJson(act)}\n`).join(''))],
    [SESSIONS_FILE, Buffer.from(sessions.map(linesOf).join(''))],
    [ROWS_FILE, Buffer.from(sessions.map(lineOfRows).join(''))],
    ...(setup ? setupFiles(setup) : []),
  ])

export function dropContent({ selection, acts, sessions }: AuditRecords): AuditRecords {
  const erased = { content: null, salt: null }
  return {
    selection: { ...selection, content: false },
    acts: acts.map((act) => ({ ...act, ...erased })),
    sessions: sessions.map(({ session, links }) => ({
      session,
      links: links.map(({ results: _results, ...link }) => ({ ...link, ...erased })),
      rows: null,
    })),
    setup: null,
  }
}

/** The members that a link has, in order; absent ones are left out. */
const inOrder = (link: SessionLink): SessionLink => ({
  content: link.content,
  contentDigest: link.contentDigest,
  events: link.events.map(({ finishedAt, kind, ordinal, runId, seq, subject, ts }) => ({
    finishedAt,
    kind,
    ordinal,
    runId,
    seq,
    subject,
    ts,
  })),
  hash: link.hash,
  ...(link.results && { results: link.results }),
  ...(link.rows && { rows: link.rows }),
  salt: link.salt,
  session: link.session,
  steps: link.steps.map(({ finishedAt, id, ordinal, runId, sequence, startedAt, tokensUsed, type }) => ({
    finishedAt,
    id,
    ordinal,
    runId,
    sequence,
    startedAt,
    tokensUsed,
    type,
  })),
  version: link.version,
})

const isListOf = (value: JsonValue | undefined, is: (each: JsonValue) => boolean): boolean =>
  Array.isArray(value) && value.every(is)
const isText = (value: JsonValue | undefined): boolean => typeof value === 'string'
const isTextOrNull = (value: JsonValue | undefined): boolean => isText(value) || value === null
const isNumber = (value: JsonValue | undefined): boolean => Number.isSafeInteger(value)
const isDigests = (value: JsonValue | undefined): boolean =>
  isListOf(value, (each) => isTexts(each) && (each as readonly string[]).length === 2)
const isTexts = (value: JsonValue | undefined): boolean => isListOf(value, isText)

function parseLine(line: string): Readonly<Record<string, JsonValue>> | undefined {
  try {
    const value = JSON.parse(line) as JsonValue
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The readers of lines. What is written in any other way is none: two readers could see two records in it. */
export function parseAct(line: string): ActRecord | undefined {
  const value = parseLine(line)
  if (!value || !isNumber(value['seq'])) return undefined
  if (!isText(value['contentDigest']) || !isText(value['hash'])) return undefined
  if (!isTextOrNull(value['content']) || !isTextOrNull(value['salt'])) return undefined
  if (!(value['rowDigests'] === undefined || isDigests(value['rowDigests']))) return undefined
  return canonicalJson(value) === line ? fromJson<ActRecord>(value) : undefined
}

/** Members of a link and of what is in it, in canonical order. Lines of an export are many, and to sort each would take most of the time. */
const LINK = ['content', 'contentDigest', 'events', 'hash', 'results', 'rows', 'salt', 'session', 'steps', 'version']
/** Those that may be absent. */
const ABSENT: ReadonlySet<string> = new Set(['results', 'rows'])
const EVENT = ['finishedAt', 'kind', 'ordinal', 'runId', 'seq', 'subject', 'ts']
const STEP = ['finishedAt', 'id', 'ordinal', 'runId', 'sequence', 'startedAt', 'tokensUsed', 'type']
const ROW = ['lines', 'name']
const ROWS = ['rows', 'session']

/** Whether a value has just these members in this order. */
function hasMembers(value: JsonValue, names: readonly string[]): boolean {
  if (!isJsonObject(value)) return false
  let at = 0
  for (const name in value) {
    while (ABSENT.has(names[at] ?? '') && names[at] !== name) at++
    if (names[at++] !== name) return false
  }
  return at === names.length
}

/** A link, and what its hash covers, which is made of the same texts as the line. */
export interface ParsedLink {
  readonly link: SessionLink
  readonly record: string
}

/** @returns a session, or a link of the session before it */
export function parseChainLine(line: string): ChainedSession | ParsedLink | undefined {
  const value = parseLine(line)
  if (!value || !isText(value['session'])) return undefined
  if ('lastSeq' in value) {
    const isSession = isNumber(value['lastSeq']) && isNumber(value['lastOrdinal'])
    return isSession && canonicalJson(value) === line ? fromJson<ChainedSession>(value) : undefined
  }
  const { content, results, rows, version, events, steps } = value
  const isLink =
    hasMembers(value, LINK) &&
    isNumber(version) &&
    isText(value['contentDigest']) &&
    isText(value['hash']) &&
    isTextOrNull(value['salt']) &&
    (content === null || isTexts(content)) &&
    (results === undefined || isTexts(results)) &&
    (rows === undefined || isDigests(rows)) &&
    isListOf(events, (each) => hasMembers(each, EVENT) && isNumber((each as JsonObject)['seq'])) &&
    isListOf(steps, (each) => hasMembers(each, STEP) && isNumber((each as JsonObject)['ordinal']))
  return isLink ? checkLinkText(fromJson<SessionLink>(value), line) : undefined
}

/** Writes each part of a link once, for the line and for its record: that is what most of a check takes. */
function checkLinkText(link: SessionLink, line: string): ParsedLink | undefined {
  const [digest, events] = [JSON.stringify(link.contentDigest), JSON.stringify(link.events)]
  const results = link.results ? `,"results":${JSON.stringify(link.results)}` : ''
  const rows = link.rows ? `,"rows":${JSON.stringify(link.rows)}` : ''
  const end = `"session":${JSON.stringify(link.session)},"steps":${JSON.stringify(link.steps)},"version":${link.version}}`
  const begin = `"contentDigest":${digest},"events":${events}`
  const middle = `"hash":${JSON.stringify(link.hash)}${results}${rows},"salt":${JSON.stringify(link.salt)}`
  if (`{"content":${JSON.stringify(link.content)},${begin},${middle},${end}` !== line) return undefined
  return { link, record: `{${begin}${rows},${end}` }
}

export function parseSetupLine(line: string): ChainedRow | undefined {
  const value = parseLine(line)
  if (!value || !isRow(value)) return undefined
  return JSON.stringify(value) === line ? fromJson<ChainedRow>(value) : undefined
}

const isRow = (value: JsonValue): boolean =>
  hasMembers(value, ROW) && isText((value as JsonObject)['name']) && isTexts((value as JsonObject)['lines'])

export function parseRowsLine(line: string): ExportedRows | undefined {
  const value = parseLine(line)
  const { rows, session } = value ?? {}
  if (!value || !hasMembers(value, ROWS) || !isText(session)) return undefined
  if (rows !== null && !isListOf(rows, isRow)) return undefined
  return JSON.stringify(value) === line ? fromJson<ExportedRows>(value) : undefined
}
