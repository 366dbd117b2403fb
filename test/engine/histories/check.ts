/** The promises that every history keeps. */
import { expect } from 'vitest'
import { isJsonObject } from '../../../src/base/json/json.ts'
import type { StoredEvent } from '../../../src/spec/event.ts'
import { undoneCallOf } from '../../../src/spec/run/run.ts'
import type { RunStep } from '../../../src/spec/step.ts'
import type { TaskRecord } from '../../../src/spec/task.ts'
import { findChainOffence } from '../../store/verify-chain.ts'
import type { History } from './live.ts'
import { GATED, SAFE } from './plan.ts'
import { checkRefused, checkUndone, countSubjects, ofType } from './steps.ts'

interface Told {
  readonly events: readonly StoredEvent[]
  readonly steps: readonly RunStep[]
}

export async function checkHistory({
  bench,
  session,
  effects,
  sent,
  tooLate,
  whilePaused,
  reported,
  moves,
}: History): Promise<Told> {
  expect(moves.broken).toEqual([])
  const ended = (await bench.store.session(session))!
  expect(ended.status).toMatch(/^(Completed|Cancelled|Failed)$/)
  const runs = await bench.store.runsOfSession(session)
  const steps = await bench.store.stepsOfSession(session)
  const events = await bench.store.events(session, 0, 10_000)

  const undoing = new Set<string>(runs.flatMap((run) => (undoneCallOf(run) ? [run.id] : [])))

  // Nothing unsafe happened twice, and nothing gated before enough people had approved exactly it.
  const twice = [...sent].filter(([named, keys]) => !SAFE.has(named.split(' ')[0]!) && new Set(keys).size < keys.length)
  expect(twice).toEqual([])
  // Nothing is begun for a run that has ended: its descendants end with it.
  expect(tooLate).toEqual([])
  expect(whilePaused).toEqual([])
  expect(reported).toHaveLength(new Set(reported).size)
  for (const [idempotencyKey, times] of effects) {
    const [, runId, turn, index] = idempotencyKey.split(':')
    if (undoing.has(runId!)) continue
    const asked = ofType(steps, 'Reasoning').filter((step) => step.runId === runId && step.error === null)
    const calls = asked[Number(turn) - 1]!.content['tool_calls'] as unknown as { id: string; name: string }[]
    const { id, name } = calls[Number(index)]!
    if (name === 'look') continue
    expect([idempotencyKey, name, times]).toEqual([idempotencyKey, name, 1])
    // The model is never told that something was not executed which was.
    const told = ofType(steps, 'ToolResult').find((step) => step.runId === runId && step.content['tool_call_id'] === id)
      ?.content['result']
    expect(isJsonObject(told) ? told['error'] : undefined).toBeUndefined()
    const dispatched = steps.find(
      (step) => step.type === 'ToolCall' && step.runId === runId && step.content['tool_call_id'] === id,
    )!
    const moved = ofType(steps, 'RunResumed').some(
      ({ runId: of, ordinal, content }) =>
        of === runId && ordinal < dispatched.ordinal && content['version'] === '1.0.1',
    )
    const needed = GATED[moved ? '1.0.1' : '1.0.0']![name]
    if (needed === undefined) continue
    const tasks = (await bench.store.tasksOfSession(session)).filter(
      (task) => task.callId === id && task.runId === runId && task.kind === 'approval',
    )
    const answeredBefore = (task: TaskRecord): boolean =>
      steps.some(
        ({ type, content, ordinal }) =>
          type === 'UserTaskRes' && content['user_task_id'] === task.id && ordinal < dispatched.ordinal,
      )
    const approved = tasks.findLast((task) => task.answer?.approved === true && answeredBefore(task))
    expect([name, approved?.approvalsRequired, approved?.votes.length]).toEqual([name, needed, needed])
  }

  // The log has no hole, and each thing in it begins and ends once.
  expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1))
  expect(steps.map((step) => step.ordinal)).toEqual(steps.map((_, at) => at + 1))
  expect(steps.filter((step) => step.finishedAt === null)).toEqual([])
  const roots = runs.filter(({ parentRunId }) => parentRunId === null)
  const resumed = events.filter(({ subject, data }) => subject === 'engine.run.resumed' && 'resumedBy' in data)
  const resumedRoots = resumed.filter(({ runId }) => roots.some(({ id }) => id === runId))
  expect(countSubjects(events, /^engine\.session\.(completed|failed|cancelled)$/)).toBe(
    roots.length + resumedRoots.length,
  )
  expect(ended.rootRunId).toBe(roots.at(-1)!.id)
  // What comes after the end is what people say of calls that were under way then.
  const end = events.findLastIndex(({ subject }) => /^engine\.session\.(completed|failed|cancelled)$/.test(subject))
  const about = ({ data }: StoredEvent): unknown =>
    isJsonObject(data['task']) ? data['task']['kind'] : isJsonObject(data['step']) && data['step']['type']
  for (const event of events.slice(end + 1).filter(({ runId }) => !undoing.has(runId!)))
    expect(['anomaly_review', 'UserTaskReq', 'UserTaskRes']).toContain(about(event))
  // Somebody was asked about every unsafe call of which nobody knew.
  const unknown = (await bench.store.calls({ sessionId: session })).filter(({ state }) => state === 'unknown')
  expect(unknown.filter(({ ref }) => !SAFE.has(ref.slice('acme.'.length)))).toEqual([])
  expect(countSubjects(events, /^engine\.run\.(completed|failed|cancelled)$/)).toBe(runs.length + resumed.length)
  for (const run of runs) {
    expect(run.state.at).toBe('done')
    const own = steps.filter((step) => step.runId === run.id)
    expect(own.map((step) => step.sequence)).toEqual(own.map((_, at) => at + 1))
    const spent = ofType(own, 'Reasoning').reduce((sum, step) => sum + (step.tokensUsed ?? 0), 0)
    expect(run.usage.inputTokens + run.usage.outputTokens).toBe(spent)
    if (run.status === 'Completed') checkResults(own)
  }
  checkRefused(runs, steps)
  checkUndone({ runs, steps, effects, calls: await bench.store.calls({ sessionId: session }) })
  expect(ended.totalTokensUsed).toBe(runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0))
  for (const task of await bench.store.tasksOfSession(session)) expect(task.status).not.toBe('pending')
  // Whatever happened, the chain holds, and it says so of each call.
  expect(await findChainOffence(bench.store, session)).toBeUndefined()
  expect(bench.busySessions()).toEqual([])
  expect(await bench.store.nextTimerAt()).toBeUndefined()
  await bench.engine.close(0)
  return { events, steps }
}

/** Each call of a run that completed has one result. */
function checkResults(own: readonly RunStep[]): void {
  const calls = ofType(own, 'Reasoning').flatMap((step) => step.content['tool_calls'] as unknown as { id: string }[])
  const asked = new Set<unknown>(calls.map(({ id }) => id))
  const results = own.filter((step) => step.type === 'ToolResult' || step.type === 'SubAgentResult')
  // What a child comes to after its question was escalated by itself is the result of no call.
  const told = results.map((step) => step.content['tool_call_id']).filter((id) => asked.has(id))
  expect(told).toHaveLength(asked.size)
  expect(new Set(told)).toEqual(asked)
}
