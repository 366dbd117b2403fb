/** Steps and events that a transaction adds, numbered in the order in which they are added. */
import type { StepId, RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { EventKind } from '../../spec/event.ts'
import type { Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStep, StepType } from '../../spec/step.ts'
import { toTimelineItem } from '../../view/timeline-item.ts'
import type { SessionUpdateEvent, StepEnd } from '../../store/session-update.ts'
import type { TransitionContext } from './context.ts'
import type { StepOptions } from './transaction.ts'

export interface StepLog {
  /** Steps of a run, stored ones first. */
  stepsOf(run: RunId): readonly RunStep[]
  /** The newest step of a run that matches. */
  lastStep(run: RunId, matches: (step: RunStep) => boolean): RunStep | undefined
  addStep(run: Run, type: StepType, content: JsonObject, options?: StepOptions): RunStep
  closeStep(run: Run, step: RunStep, error?: string, shown?: JsonObject): void
  addEvent(run: RunId, kind: EventKind, subject: string, data?: JsonObject): void
  /** Sequence numbers of the newest steps, by run; runs without a new step are left out. */
  lastSequences(): ReadonlyMap<RunId, number>
  /** All that was added, and the counters of the session after it. */
  changes(): {
    readonly steps: readonly RunStep[]
    readonly closedSteps: readonly StepEnd[]
    readonly events: readonly SessionUpdateEvent[]
    readonly lastSeq: number
    readonly lastOrdinal: number
  }
}

export function createStepLog(session: Session, context: TransitionContext): StepLog {
  const { now } = context
  const steps: RunStep[] = []
  const closed = new Map<StepId, StepEnd>()
  const events: SessionUpdateEvent[] = []
  const lastSequences = new Map<RunId, number>()
  let { lastSeq, lastOrdinal } = session

  const asClosed = (step: RunStep): RunStep => {
    const end = closed.get(step.id)
    return end ? { ...step, ...end } : step
  }
  /** The event names the step by its ordinal: its content is stored once. */
  const addStepEvent = ({ runId, ordinal }: RunStep, what: 'started' | 'completed' | 'failed'): void => {
    const subject = `engine.step.${what}`
    events.push({ sessionId: session.id, runId, seq: ++lastSeq, ts: now, kind: 'step', subject, ordinal })
  }
  const addEvent: StepLog['addEvent'] = (runId, kind, subject, data = {}) => {
    const sessionId = session.id
    events.push({ sessionId, runId, seq: ++lastSeq, ts: now, kind, subject, data: { sessionId, runId, ...data } })
  }

  return {
    stepsOf: (id) => [...context.stepsOf(id).map(asClosed), ...steps.filter((step) => step.runId === id)],
    lastStep(id, matches) {
      const fresh = steps.findLast((step) => step.runId === id && matches(step))
      if (fresh) return fresh
      const stored = context.stepsOf(id).findLast((step) => matches(asClosed(step)))
      return stored && asClosed(stored)
    },
    addStep(run, type, content, { open = false, silent = false, tokens, error, hidden, startedAt = now } = {}) {
      const sequence = (lastSequences.get(run.id) ?? run.lastSequence) + 1
      lastSequences.set(run.id, sequence)
      const step: RunStep = {
        id: context.ids.next(),
        sessionId: session.id,
        runId: run.id,
        type,
        sequence,
        ordinal: ++lastOrdinal,
        content,
        tokensUsed: tokens ?? null,
        error: error ?? null,
        // A transaction that is applied again may be earlier than the end of its effect.
        startedAt: Math.min(startedAt, now),
        finishedAt: open ? null : now,
        ...(hidden && { hidden }),
      }
      steps.push(step)
      const ended = step.error === null ? 'completed' : 'failed'
      if (!silent) addStepEvent(step, open ? 'started' : ended)
      return step
    },
    closeStep(run, step, error, shown) {
      const end: StepEnd = { id: step.id, ordinal: step.ordinal, finishedAt: now, error: error ?? null }
      const fresh = steps.findIndex((each) => each.id === step.id)
      if (fresh >= 0) steps[fresh] = { ...steps[fresh]!, ...end }
      else closed.set(step.id, end)
      const what = error === undefined ? 'completed' : 'failed'
      if (!shown) return addStepEvent(step, what)
      const item = toJson(toTimelineItem({ ...step, ...end }, run, shown))
      addEvent(run.id, 'step', `engine.step.${what}`, { step: item })
    },
    addEvent,
    lastSequences: () => lastSequences,
    changes: () => ({ steps, closedSteps: [...closed.values()], events, lastSeq, lastOrdinal }),
  }
}
