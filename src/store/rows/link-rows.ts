/** The link that a save adds to the chain of its session. Source: docs/design/audit.md#sessions */
import { randomUUID } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'
import { digestOfContent, linesOfContent, type EventTexts, type StepTexts } from '../../spec/chain/session-link.ts'
import type { SessionUpdate, SessionUpdateEvent } from '../session-update.ts'
import { toRowDigests } from './chained-rows.ts'
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
  /** JSON of the digests of the rows that the save writes. */
  readonly rowDigests: string
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

/** @returns undefined for a save that adds nothing which a chain covers, and changes nothing of it */
export function toNewLink(update: SessionUpdate, texts: SavedTexts): NewLink | undefined {
  const { session, steps, closedSteps, events, runs, calls, tasks, effects = [] } = update
  if ([events, steps, runs, calls, tasks, effects].every(({ length }) => length === 0)) return undefined
  const shown = new Set<number>()
  // Numbers of steps that a save adds follow each other.
  const firstOrdinal = steps[0]?.ordinal ?? 0
  const endOf = (ordinal: number) => closedSteps.find((end) => end.ordinal === ordinal) ?? steps[ordinal - firstOrdinal]
  const eventRecords: string[] = []
  const eventTexts: EventTexts[] = []
  for (let index = 0; index < events.length; index++) {
    const event = events[index]
    if (!event) continue
    const ordinal = 'ordinal' in event ? event.ordinal : null
    if (ordinal !== null) shown.add(ordinal)
    const end = ordinal === null || isStepStart(event) ? undefined : endOf(ordinal)
    eventRecords.push(toEventRecord(event, ordinal, end?.finishedAt ?? null))
    eventTexts.push({ data: texts.data[index] ?? null, error: toPlainText(end?.error ?? null) })
  }
  // The end of a step is in the event that shows it; a step that no event shows has ended.
  const stepRecords = steps.map((step) => toStepRecord(step, shown.has(step.ordinal) ? null : step.finishedAt))
  const stepTexts = steps.map((step, index): StepTexts => {
    const { content, resultDigest, hidden } = expectDefined(texts.steps[index], 'each step has its texts')
    return { content, resultDigest, hidden, error: shown.has(step.ordinal) ? null : toPlainText(step.error) }
  })
  // Other random bytes take this as long as all else.
  const salt = randomUUID()
  const contentDigest = digestOfContent(salt, linesOfContent(stepTexts, eventTexts))
  const version = session.version + 1
  const rowDigests = JSON.stringify(toRowDigests(update, salt))
  return {
    sessionId: session.id,
    version,
    seq: session.lastSeq,
    events: events.length,
    ordinal: session.lastOrdinal,
    steps: steps.length,
    contentDigest,
    salt,
    rowDigests,
    record: `{"contentDigest":"${contentDigest}","events":[${eventRecords.join(',')}],"rows":${rowDigests},"session":"${session.id}","steps":[${stepRecords.join(',')}],"version":${version}}`,
  }
}

/** A `LinkedEvent` as canonical JSON. Ids, numbers and words of the interface need no escapes, and a template takes a third of the time. */
const toEventRecord = (
  { kind, runId, seq, subject, ts }: SessionUpdateEvent,
  ordinal: number | null,
  finishedAt: Instant | null,
): string =>
  `{"finishedAt":${finishedAt},"kind":"${kind}","ordinal":${ordinal},"runId":"${runId}","seq":${seq},"subject":"${subject}","ts":${ts}}`

/** A `LinkedStep` as canonical JSON. */
const toStepRecord = (
  { id, ordinal, runId, sequence, startedAt, tokensUsed, type }: RunStep,
  finishedAt: Instant | null,
): string =>
  `{"finishedAt":${finishedAt},"id":"${id}","ordinal":${ordinal},"runId":"${runId}","sequence":${sequence},"startedAt":${startedAt},"tokensUsed":${tokensUsed},"type":"${type}"}`
