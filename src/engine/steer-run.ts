/**
 * Input to a run while it works: messages, signals, and reports of work that was done elsewhere. Input that the run does not wait
 * for is refused and changes nothing. Source: docs/design/steering.md#waits-outside
 */
import { digestOfJson } from '../base/digest.ts'
import { fail, type Failure } from '../base/failure.ts'
import type { RunId } from '../base/ids.ts'
import type { JsonValue } from '../base/json/json.ts'
import type { MessageAccepted } from '../spec/api.ts'
import { isExternalModel } from '../spec/external.ts'
import { isTerminal } from '../spec/run/run.ts'
import type { SteeringMessage } from '../spec/steer/wait.ts'
import { awaitedSignal, callOfToken, reportedError, signalProblems } from './calls/end-wait.ts'
import { tokenDigest } from './calls/wait.ts'
import type { SessionDriver } from './drive/drive.ts'
import { runOfToken } from './session/completion-token.ts'
import { advanceRun } from './machine/advance.ts'
import type { EngineParts, OutsideReport } from './interface/engine.ts'
import type { RunHandle } from './transaction/transaction.ts'

/** Messages that wait for the next completion of one run. */
const MOST_MESSAGES = 32

/** Gives a message to a run that works, for its next completion; `interrupts` drops the one under way. */
export function steerRun(run: RunHandle, message: SteeringMessage, interrupts: boolean): MessageAccepted {
  const { state } = run
  const status = run.statusNow()
  if (isTerminal(status)) return toRefusal(status, fail('run_not_waiting', { status }))
  const asks = state.at === 'calling' && state.calls.some((call) => call.state.at === 'listening')
  if (asks || (state.at !== 'thinking' && state.at !== 'backing_off' && state.at !== 'calling'))
    return toRefusal(status, fail('run_not_working', { status }))
  if (isExternalModel(run.snapshot.model)) return toRefusal(status, fail('agent_external', { agent: run.snapshot.id }))
  if ((run.usage.steering?.length ?? 0) >= MOST_MESSAGES)
    return toRefusal(status, fail('steering_full', { most: MOST_MESSAGES }))
  advanceRun(run, { type: 'steered', message, interrupts })
  return { status: run.statusNow() }
}

/** Gives a signal to the run, or the descendant, that waits for it. */
export async function signalRun(
  { store, redactor }: EngineParts,
  driver: SessionDriver,
  runId: RunId,
  name: string,
  data: JsonValue,
): Promise<MessageAccepted> {
  const stored = await store.run(runId)
  if (!stored) throw fail('not_found', { what: 'run' })
  const clean = redactor.json(data)
  return driver.post(
    stored.sessionId,
    (tx): MessageAccepted => {
      const run = tx.run(runId)
      for (const each of lineBelow(run)) {
        const call = awaitedSignal(each, name)
        if (!call) continue
        const [problem] = signalProblems(call, clean)
        if (problem) {
          const what = `The data of the signal ${name} is not valid: ${problem.path || 'it'} ${problem.message}.`
          return toRefusal(run.statusNow(), fail('invalid_value', { what }))
        }
        advanceRun(each, { type: 'signal', callId: call.id, name, data: clean })
        return { status: run.statusNow() }
      }
      return toRefusal(run.statusNow(), fail('signal_not_awaited', { name }))
    },
    { about: [runId] },
  )
}

const lineBelow = (run: RunHandle): readonly RunHandle[] => [run, ...run.children().flatMap(lineBelow)]

/**
 * Ends the call to which a token was given. A repeated report changes nothing and is answered as a duplicate.
 * @throws Failure `completion_not_found` for a token that ends nothing, `completion_used` for another report of what has ended
 */
export async function completeOutside(
  { store, redactor }: EngineParts,
  driver: SessionDriver,
  token: string,
  report: OutsideReport,
): Promise<MessageAccepted & { readonly runId: RunId }> {
  const runId = runOfToken(token)
  const stored = runId && (await store.run(runId))
  if (!stored) throw fail('completion_not_found')
  const digest = tokenDigest(token)
  const body = digestOfJson({ ...report } as JsonValue)
  const clean = redactor.json(report)
  return driver.post(
    stored.sessionId,
    (tx) => {
      const run = tx.run(stored.id)
      const used = run.usage.reports?.[digest]
      if (used !== undefined && used !== body) throw fail('completion_used')
      if (used !== undefined) return { runId: run.id, status: run.statusNow(), duplicate: true }
      const call = callOfToken(run, digest)
      if (!call) throw fail('completion_not_found')
      const isError = 'error' in clean
      // Before the call ends, which may end the run.
      run.updateUsage({ reports: { ...run.usage.reports, [digest]: body } })
      advanceRun(run, {
        type: 'call.reported',
        callId: call.id,
        result: 'error' in clean ? reportedError(clean.error) : clean.result,
        isError,
      })
      return { runId: run.id, status: run.statusNow() }
    },
    { about: [stored.id] },
  )
}

export const toRefusal = (status: string, failure: Failure): MessageAccepted => ({
  status,
  error: failure.message,
  code: failure.code,
})
