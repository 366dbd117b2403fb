/** What random histories are worth nothing without. */
import { isJsonObject, type JsonObject } from '../../../src/base/json/json.ts'
import type { StoredEvent } from '../../../src/spec/event.ts'
import type { RunStep } from '../../../src/spec/step.ts'
import { UNDONE } from './plan.ts'
import { countSubjects, ofType, refused } from './steps.ts'

export interface Rare {
  readonly name: string
  of(events: readonly StoredEvent[], steps: readonly RunStep[]): boolean
}

const holds =
  (reason: string): Rare['of'] =>
  (events) =>
    events.some(({ data: { hold } }) => isJsonObject(hold ?? null) && (hold as JsonObject)['reason'] === reason)

const isMove = ({ type, content }: RunStep): boolean => type === 'RunResumed' && content['version'] === '1.0.1'

/** Of runs that undo a call: they have no model. */
function undoSteps(steps: readonly RunStep[], type: RunStep['type']): readonly RunStep[] {
  const ofModels = new Set(ofType(steps, 'Reasoning').map(({ runId }) => runId))
  const undoing = new Set(
    ofType(steps, 'ToolCall').flatMap(({ runId, content }) =>
      content['name'] === UNDONE.by && !ofModels.has(runId) ? [runId] : [],
    ),
  )
  return ofType(steps, type).filter(({ runId }) => undoing.has(runId))
}

/** What histories are worth nothing without: each of these is met, or the plans are too tame. */
export const RARE: readonly Rare[] = [
  { name: 'a hold by an operator', of: holds('paused') },
  { name: 'a wait for a signal', of: holds('signal') },
  { name: 'work outside', of: holds('external') },
  { name: 'a move to another version', of: (_, steps) => steps.some(isMove) },
  {
    name: 'a question that is asked anew',
    of: (events, steps) =>
      steps.some(
        (step) =>
          isMove(step) &&
          events.some(({ subject, ts }) => subject === 'engine.user_task.cancelled' && ts === step.startedAt),
      ),
  },
  { name: 'a call that is undone', of: (_, steps) => undoSteps(steps, 'ToolCall').length > 0 },
  {
    name: 'an undo of unknown outcome',
    of: (_, steps) => undoSteps(steps, 'UserTaskReq').some(({ content }) => content['kind'] === 'anomaly_review'),
  },
  { name: 'a message', of: (_, steps) => steps.some(({ content }) => content['steer'] === true) },
  { name: 'a child', of: (_, steps) => ofType(steps, 'SubAgentCall').length > 0 },
  { name: 'a question', of: (events) => countSubjects(events, /^engine\.aitl\.escalated$/) > 0 },
  { name: 'a limit', of: (_, steps) => ofType(steps, 'LimitReached').length > 0 },
  { name: 'a resumption', of: (events) => events.some(({ data }) => 'resumedBy' in data) },
  {
    name: 'a resumed child',
    of: (events) => events.some(({ data, runId }) => 'resumedBy' in data && runId !== events[0]!.runId),
  },
  { name: 'a quorum', of: (events) => countSubjects(events, /^engine\.user_task\.voted$/) > 0 },
  { name: 'a completion called off', of: (_, steps) => steps.some(({ error }) => error?.startsWith('Called off')) },
  {
    name: 'an unknown outcome',
    of: (_, steps) => ofType(steps, 'UserTaskReq').some(({ content }) => content['kind'] === 'anomaly_review'),
  },
]

/** The same where a no ends a run. */
export const RARE_REFUSED: readonly Rare[] = [
  {
    name: 'another call in flight',
    of: (_, steps) =>
      refused(steps).some((run) =>
        ofType(steps, 'ToolCall').some(
          ({ runId, error }) => runId === run && error === 'The run ended before the outcome was known.',
        ),
      ),
  },
  {
    name: 'a child that waits for a person',
    of: (events, steps) =>
      refused(steps).includes(events[0]!.runId) &&
      events.some(({ subject, runId }) => subject === 'engine.user_task.cancelled' && runId !== events[0]!.runId),
  },
]
