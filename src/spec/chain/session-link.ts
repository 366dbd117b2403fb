/**
 * Links of the chain of a session: what each save added to its events and steps. What an erasure removes enters by a salted digest,
 * so that the chain still holds after it. Source: docs/design/audit.md#sessions
 */
import type { Instant } from '../../base/clock.ts'
import type { AgentId, RunId, SessionId, StepId } from '../../base/ids.ts'
import { saltedDigest, saltedShortDigest } from './hash-chain.ts'
import type { EventKind } from '../event.ts'
import type { StepType } from '../step.ts'

/** A step as the save that adds it stores it. */
export interface LinkedStep {
  readonly finishedAt: Instant | null
  readonly id: StepId
  readonly ordinal: number
  readonly runId: RunId
  readonly sequence: number
  readonly startedAt: Instant
  readonly tokensUsed: number | null
  readonly type: StepType
}

/** An event as it is stored. */
export interface LinkedEvent {
  /** Of the step whose end it shows; null for any other event. */
  readonly finishedAt: Instant | null
  readonly kind: EventKind
  /** Of the step that it shows; null where it has data of its own. */
  readonly ordinal: number | null
  readonly runId: RunId
  readonly seq: number
  readonly subject: string
  readonly ts: Instant
}

/** What an erasure leaves, and what the hash of a link covers besides the hash before it. */
export interface LinkRecord {
  readonly contentDigest: string
  readonly events: readonly LinkedEvent[]
  /** Absent in links of earlier versions of svc. */
  readonly rows?: readonly RowDigest[]
  readonly session: SessionId
  readonly steps: readonly LinkedStep[]
  /** Of the session after the save. */
  readonly version: number
}

/** A row that later saves overwrite, and the digest of the salt of the link and its lines as the save left it; or `AT_WORK`. */
export type RowDigest = readonly [name: string, digest: string]

/** In place of a digest: the next save overwrites the row, and until then nothing is said of it but that it is there. */
export const AT_WORK = ''

/** Such a row as it is stored now. */
export interface ChainedRow {
  readonly name: string
  readonly lines: readonly string[]
}

/** What names of rows of effect keys begin with. */
export const EFFECT_ROW = 'effect '

/** The rows of a session, and where its chain ended when they were read. */
export interface SessionRows {
  readonly session: ChainedSession
  /** Null where the session went on each time while they were read. */
  readonly rows: readonly ChainedRow[] | null
}

/** A link as it is stored, and as a line of an export has it. Members are in order, so that its JSON is canonical. */
export interface SessionLink {
  /** `linesOfContent`; null once it is erased, or where an export leaves it out. */
  readonly content: readonly string[] | null
  readonly contentDigest: string
  readonly events: readonly LinkedEvent[]
  readonly hash: string
  /** Texts of results that are stored separately. */
  readonly results?: readonly string[]
  readonly rows?: readonly RowDigest[]
  readonly salt: string | null
  readonly session: SessionId
  readonly steps: readonly LinkedStep[]
  readonly version: number
}

/** A session whose chain is exported, before its links. */
export interface ChainedSession {
  readonly agent: AgentId
  readonly erasedAt: Instant | null
  /** Of its last link, and the version of the save that wrote it; null without links. */
  readonly head: string | null
  readonly headVersion: number | null
  /** Of all its events and steps: those of its links end there, too. */
  readonly lastOrdinal: number
  readonly lastSeq: number
  readonly session: SessionId
  readonly startedAt: Instant
}

/** Texts of a step that an erasure removes: JSON as it is stored, but for the error. */
export interface StepTexts {
  readonly content: string
  /** Of a result that is stored separately. */
  readonly resultDigest: string | null
  readonly hidden: string | null
  readonly error: string | null
}

/** Texts of an event that an erasure removes. */
export interface EventTexts {
  /** JSON as it is stored; null where the event shows a step. */
  readonly data: string | null
  /** Of the step whose end it shows. */
  readonly error: string | null
}

/** Lines of content for each step, and for each event after all steps. */
export const LINES_OF_STEP = 4
/** Of a step, what only the engine reads. */
export const HIDDEN_LINE = 2
export const LINES_OF_EVENT = 2

/** A line for each text: the four of each step in order, then the two of each event. Stored JSON has no line feeds. */
export function linesOfContent(steps: readonly StepTexts[], events: readonly EventTexts[]): readonly string[] {
  const lines: string[] = []
  for (const { content, resultDigest, hidden, error } of steps)
    lines.push(content, resultDigest ?? 'null', hidden ?? 'null', toErrorLine(error))
  for (const { data, error } of events) lines.push(data ?? 'null', toErrorLine(error))
  return lines
}

const toErrorLine = (error: string | null): string => (error === null ? 'null' : JSON.stringify(error))

export const digestOfContent = (salt: string, lines: readonly string[]): string => saltedDigest(salt, lines.join('\n'))

export const digestOfRow = (salt: string, lines: readonly string[]): string => saltedShortDigest(salt, lines.join('\n'))

/** The first thing of a session that is not as it was written, or that was not allowed. */
export interface SessionOffence {
  readonly session: SessionId
  /** Number of the event, or of the first event of the save, where it is. */
  readonly seq: number
  readonly rule: SessionRule
  /** A sentence. */
  readonly what: string
}

/** Of calls that were sent. */
export type CallRule = 'content' | 'decision' | 'approval' | 'arguments' | 'twice' | 'approver'
export type SessionRule = 'gap' | 'content' | 'hash' | 'end' | 'row' | CallRule
