/** What is read in the timeline of a history, and what becomes of a run that a person's no has ended. */
import { expect } from 'vitest'
import type { StoredEvent } from '../../../src/spec/event.ts'
import { undoneCallOf, type Run } from '../../../src/spec/run/run.ts'
import type { RunStep } from '../../../src/spec/step.ts'
import type { CallRow } from '../../../src/store/session-update.ts'

export const ofType = (steps: readonly RunStep[], type: RunStep['type']): readonly RunStep[] =>
  steps.filter((step) => step.type === type)
export const countSubjects = (events: readonly StoredEvent[], pattern: RegExp): number =>
  events.filter(({ subject }) => pattern.test(subject)).length

/** Runs that a person's no has ended. */
export const refused = (steps: readonly RunStep[]): readonly string[] =>
  ofType(steps, 'RunCompleted')
    .filter(({ error }) => error?.includes('was not executed'))
    .map(({ runId }) => runId)

/** What is begun, decided or asked by a run or below it. */
const BEGINS: ReadonlySet<RunStep['type']> = new Set([
  'PolicyDecision',
  'ToolCall',
  'SubAgentCall',
  'UserTaskReq',
  'UserTaskRes',
])

/** From the no that ends a run on, nothing is begun for it or below it until it is resumed; what was begun before may be asked about. */
export function checkRefused(runs: readonly Run[], steps: readonly RunStep[]): void {
  const reviews = new Set(
    ofType(steps, 'UserTaskReq')
      .filter(({ content }) => content['kind'] === 'anomaly_review')
      .map(({ content }) => content['user_task_id']),
  )
  for (const run of refused(steps)) {
    const below = new Set<string>([run])
    for (const { id, parentRunId, undone } of runs.map((run) => ({ ...run, undone: undoneCallOf(run) })))
      if (parentRunId !== null && below.has(parentRunId) && !undone) below.add(id)
    const no = ofType(steps, 'UserTaskRes').findLast(
      ({ runId, content }) => runId === run && content['approved'] === false,
    )!
    const resumed = ofType(steps, 'RunResumed').find(({ ordinal }) => ordinal > no.ordinal)
    const later = steps.filter(
      ({ type, runId, ordinal, error, content }) =>
        ordinal > no.ordinal &&
        ordinal < (resumed?.ordinal ?? Infinity) &&
        below.has(runId) &&
        !reviews.has(content['user_task_id'] ?? null) &&
        (BEGINS.has(type) || (type === 'Reasoning' && error === null)),
    )
    expect(later.map(({ type, content }) => [type, content])).toEqual([])
  }
}

/** Each call was undone at most once, only where it was made, and after a person had approved that. */
export function checkUndone({
  runs,
  steps,
  calls,
  effects,
}: {
  readonly runs: readonly Run[]
  readonly steps: readonly RunStep[]
  readonly calls: readonly CallRow[]
  readonly effects: ReadonlyMap<string, number>
}): void {
  const undone: string[] = []
  for (const run of runs) {
    const of = undoneCallOf(run)
    if (!of) continue
    for (const { runId, callId, idempotencyKey } of calls) {
      const times = effects.get(idempotencyKey) ?? 0
      if (runId !== run.id || times === 0) continue
      const made = calls.find((each) => each.runId === of.runId && each.callId === of.callId)!
      expect([made.idempotencyKey, effects.has(made.idempotencyKey)]).toEqual([made.idempotencyKey, true])
      for (let time = 0; time < times; time++) undone.push(made.idempotencyKey)
      const own = steps.filter((step) => step.runId === run.id)
      const sent = ofType(own, 'ToolCall').find(({ content }) => content['tool_call_id'] === callId)!
      const approved = ofType(own, 'UserTaskRes').find(({ content }) => content['approved'] === true)
      expect(approved?.ordinal).toBeLessThan(sent.ordinal)
    }
  }
  expect(undone).toHaveLength(new Set(undone).size)
}
