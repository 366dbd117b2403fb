/** The calls of one completion: each is authorized, dispatched and settled; then the next turn starts. */
import type { ModelCall } from '../../providers/provider.ts'
import { undoneCallOf, type RunState, type ToolCall } from '../../spec/run/run.ts'
import { failedState } from '../limits/ending.ts'
import { startTurn } from '../limits/request-completion.ts'
import { bindCall, offeredTools } from '../session/bindings.ts'
import { CallHandle, proposeCall } from '../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { dispatchCall, mayLeave } from './dispatch.ts'
import { isOvertaken } from './gate/effect.ts'
import { authorizeCall } from './gate/gate.ts'
import { positionOf } from './open-questions.ts'
import { holdCall, isCallPaused, resumeCall } from './steer/pause.ts'
import { concludeUndo } from './steer/undo.ts'

/** Records the calls of a completion, before any of them is authorized. @param first index of the first of them in its turn */
export function proposeCalls(run: RunHandle, turn: number, given: readonly ModelCall[], first = 0): StateAt<'calling'> {
  const offered = offeredTools(run.snapshot, positionOf(run.record, run.tx.runs()))
  const calls = given.map(({ id, name, arguments: args }, at): ToolCall => {
    const { kind, ref } = bindCall(run.snapshot, offered, name)
    return proposeCall(run, turn, { id, index: first + at, name, kind, ref, arguments: args }).record
  })
  return { at: 'calling', turn, calls }
}

/** Adds a call to a turn whose calls are under way. */
export function joinTurn(run: RunHandle, { turn, calls }: StateAt<'calling'>, call: ModelCall): RunState {
  const joined = proposeCalls(run, turn, [call], calls.at(-1)!.index + 1)
  return beginCalls(run, { ...joined, calls: [...calls, ...joined.calls] })
}

/** Counts an iteration and proceeds with the calls of a completion. */
export function beginCalls(run: RunHandle, calling: StateAt<'calling'>): RunState {
  run.updateUsage({ iterations: run.usage.iterations + 1 })
  return proceedWithCalls(run, calling)
}

/**
 * Takes the calls as far as they go without an outcome or an answer: authorizes proposed calls, dispatches ready ones, and
 * starts the next turn when all are settled. A call that fails the run does so at once, whatever else is in flight: otherwise
 * work below could still be approved and started meanwhile.
 */
export function proceedWithCalls(run: RunHandle, { turn, calls: given }: StateAt<'calling'>): RunState {
  const calls = [...given]
  for (const [index, record] of calls.entries()) {
    if (calls.some(endsRun)) break
    calls[index] = proceedWithCall(new CallHandle(run, turn, record), calls)
  }
  const ending = calls.find(endsRun)
  if (ending?.state.at === 'settled' && ending.state.ends) {
    // Calls sent in this transaction only are never dispatched, so they are recorded as they were.
    const reverted = calls.map((call, index) =>
      call.state.at === 'sent' && given[index]!.state.at !== 'sent' ? given[index]! : call,
    )
    run.setState({ at: 'calling', turn, calls: reverted })
    return failedState(ending.state.ends.errorCode, ending.state.ends.error)
  }
  // Set before it is returned: a turn that cannot start ends the run, which closes the calls that it has.
  const here: StateAt<'calling'> = { at: 'calling', turn, calls }
  run.setState(here)
  if (!calls.every((call) => call.state.at === 'settled')) return here
  // An undoing run has no model: it ends with its call.
  return undoneCallOf(run.record) ? concludeUndo(run) : startTurn(run, turn + 1)
}

/** A standing authority that was ended since the call was allowed no longer allows it. */
const mayBeRevoked = ({ tx, run }: CallHandle): boolean =>
  tx.context.revoked.size > 0 &&
  run.snapshot.policies.entries.some(
    ({ obligations: { standing } }) => standing !== undefined && tx.context.revoked.has(standing),
  )

const endsRun = (call: ToolCall): boolean => call.state.at === 'settled' && call.state.ends !== undefined

/** True for a call that waits for nothing: the transaction may send it. */
export const isReadyToLeave = ({ state }: ToolCall): boolean =>
  state.at === 'ready' || (state.at === 'proposed' && state.approved !== undefined)

function proceedWithCall(call: CallHandle, all: readonly ToolCall[]): ToolCall {
  const { state } = call.record
  if (isReadyToLeave(call.record)) {
    if (isCallPaused(call)) return holdCall(call)
    if (call.record.paused !== undefined) return proceedWithCall(resumeCall(call), all)
  }
  if (state.at === 'ready' && !mayLeave(call, all)) return call.record
  if (state.at === 'ready' && !isOvertaken(call) && !mayBeRevoked(call)) return dispatchCall(call)
  if (state.at === 'ready') return proceedWithCall(call.as(call.to({ at: 'proposed' })), all)
  if (state.at !== 'proposed') return call.record
  // The approved call is authorized again in the transaction that sends it, so only once it may leave.
  if (state.approved && !mayLeave(call, all)) return call.record
  const authorized = call.as(authorizeCall(call))
  if (isReadyToLeave(authorized.record) && isCallPaused(authorized)) return holdCall(authorized)
  return authorized.record.state.at === 'ready' && mayLeave(authorized, all)
    ? dispatchCall(authorized)
    : authorized.record
}

/**
 * Proceeds with the calls after updating those that match.
 * @returns undefined, and nothing has changed, when none matches
 */
export function updateCalls(
  run: RunHandle,
  here: StateAt<'calling'>,
  matches: (call: ToolCall) => boolean,
  update: (call: CallHandle) => ToolCall,
): RunState | undefined {
  if (!here.calls.some(matches)) return undefined
  const calls = here.calls.map((record) => (matches(record) ? update(new CallHandle(run, here.turn, record)) : record))
  return proceedWithCalls(run, { ...here, calls })
}
