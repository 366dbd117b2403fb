/** The link that a save adds to the chain of its session. Source: docs/design/audit.md#sessions */
import { randomUUID } from 'node:crypto'
import type { SessionId } from '../../base/ids.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'
import {
  digestOfContent,
  linesOfContent,
  type EventTexts,
  type LinkedEvent,
  type LinkedStep,
  type LinkRecord,
  type StepTexts,
} from '../../spec/session-link.ts'
import type { SessionUpdate } from '../session-update.ts'
import { toPlainText } from './json-column.ts'

/** The columns of a link but for its hash, which the hash before it enters. */
export interface NewLink {
  readonly sessionId: SessionId
  readonly version: number
  readonly seq: number
  readonly events: number
  readonly ordinal: number
  readonly steps: number
  readonly contentDigest: string
  readonly salt: string
  /** Canonical JSON of the record that the hash covers. */
  readonly record: string
}

/** Those texts of the rows of a save that an erasure removes, in the order of its steps and events. */
export interface SavedTexts {
  readonly steps: readonly Omit<StepTexts, 'error'>[]
  /** JSON of the data; null where an event shows a step. */
  readonly data: readonly (string | null)[]
}

/** Such an event shows a step without its end. */
export const isStepStart = ({ subject }: { readonly subject: string }): boolean => subject === 'engine.step.started'

/** @returns undefined for a save without events and steps */
export function toNewLink(
  { session, steps, closedSteps, events }: SessionUpdate,
  texts: SavedTexts,
): NewLink | undefined {
  if (events.length === 0 && steps.length === 0) return undefined
  const added = new Map(steps.map((step) => [step.ordinal, step]))
  const closed = new Map(closedSteps.map((end) => [end.ordinal, end]))
  const shown = new Set<number>()
  const linkedEvents: LinkedEvent[] = []
  const eventTexts: EventTexts[] = []
  for (const [index, event] of events.entries()) {
    const { kind, runId, seq, subject, ts } = event
    const ordinal = 'ordinal' in event ? event.ordinal : null
    if (ordinal !== null) shown.add(ordinal)
    const end = ordinal === null || isStepStart(event) ? undefined : (closed.get(ordinal) ?? added.get(ordinal))
    linkedEvents.push({ finishedAt: end?.finishedAt ?? null, kind, ordinal, runId, seq, subject, ts })
    eventTexts.push({ data: texts.data[index] ?? null, error: toPlainText(end?.error ?? null) })
  }
  // The end of a step is in the event that shows it; a step that no event shows has ended.
  const linkedSteps = steps.map((step): LinkedStep => {
    const { id, ordinal, runId, sequence, startedAt, tokensUsed, type } = step
    const finishedAt = shown.has(ordinal) ? null : step.finishedAt
    return { finishedAt, id, ordinal, runId, sequence, startedAt, tokensUsed, type }
  })
  const stepTexts = steps.map((step, index): StepTexts => {
    const text = expectDefined(texts.steps[index], 'each step has its texts')
    return { ...text, error: shown.has(step.ordinal) ? null : toPlainText(step.error) }
  })
  // Node keeps random bytes in store for it: 122 of its bits cost 0.3 us under load, 16 bytes by themselves 9.
  const salt = randomUUID()
  const contentDigest = digestOfContent(salt, linesOfContent(stepTexts, eventTexts))
  const version = session.version + 1
  const record: LinkRecord = {
    contentDigest,
    events: linkedEvents,
    session: session.id,
    steps: linkedSteps,
    version,
  }
  return {
    sessionId: session.id,
    version,
    seq: session.lastSeq,
    events: events.length,
    ordinal: session.lastOrdinal,
    steps: steps.length,
    contentDigest,
    salt,
    // Written with its members in order, which is canonical: ids, numbers and words of the interface need no escapes.
    record: JSON.stringify(record),
  }
}
