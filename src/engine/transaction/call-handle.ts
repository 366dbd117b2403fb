/** A tool call of a run in a transaction, and the only ways to make and to change one. */
import { digestOfJson } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { EFFECT_KEY } from '../../policy/condition/effect-key.ts'
import type { CallState, ToolCall } from '../../spec/run/run.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import type { EffectEnd } from '../../store/session-update.ts'
import { offeredToolOf, toolNamed } from '../session/bindings.ts'
import { dispatchKey, idempotencyKeyOf } from '../session/keys.ts'
import { callMoves } from './call-moves.ts'
import type { RunHandle, SessionTransaction } from './transaction.ts'
import { undoKeyOf } from '../session/undone.ts'

/** Members of a call that change while its state stays. */
type CallChange = Partial<Omit<ToolCall, 'id' | 'index' | 'name' | 'kind' | 'ref' | 'state'>>

/** Members that a call may lose. */
type LosableMember =
  | 'decisionId'
  | 'approvedBy'
  | 'approval'
  | 'repeats'
  | 'effectWait'
  | 'paused'
  | 'outage'
  | 'inDoubt'
  | 'late'
  | 'input'

type CallMembers = Omit<ToolCall, never>

const membersOf = (call: ToolCall): CallMembers => call

/** Of all code, only this file makes calls of their members. */
const toCall = (members: CallMembers): ToolCall => members as ToolCall

/** A new call, proposed and recorded as such. It is not in the state of the run yet. */
export function proposeCall(
  run: RunHandle,
  turn: number,
  proposal: Pick<ToolCall, 'id' | 'index' | 'name' | 'kind' | 'ref' | 'arguments'>,
): CallHandle {
  const argumentsDigest = digestOfJson(proposal.arguments)
  const call = toCall({ ...proposal, argumentsDigest, attempt: 1, state: { at: 'proposed' } })
  recordCall(run, turn, call)
  return new CallHandle(run, turn, call)
}

/** Changes the calls of a run that match, in its state. */
export function changeCalls(
  run: RunHandle,
  matches: (call: ToolCall) => boolean,
  change: (call: CallHandle) => ToolCall,
): void {
  const { state } = run
  if (state.at !== 'calling') return
  const changed = (call: ToolCall): ToolCall => (matches(call) ? change(new CallHandle(run, state.turn, call)) : call)
  run.setState({ ...state, calls: state.calls.map(changed) })
}

/**
 * A call, its turn and its run. The handle does not change: methods that change the call return it as it is afterwards, for the
 * caller to put into the state of the run.
 */
export class CallHandle {
  readonly tx: SessionTransaction
  readonly run: RunHandle
  readonly turn: number
  readonly record: ToolCall

  constructor(run: RunHandle, turn: number, record: ToolCall) {
    this.tx = run.tx
    this.run = run
    this.turn = turn
    this.record = record
  }

  /** The tool that the author bound to the name of the call; undefined for a delegation or a tool that the engine offers. */
  get tool(): BoundTool | undefined {
    return toolNamed(this.run.snapshot, this.record.name)
  }
  /** Equal for every attempt of the call. */
  get idempotencyKey(): string {
    return idempotencyKeyOf(this.run.id, this.turn, this.record.index)
  }
  /** Identifies this attempt within its session. */
  get dispatchKey(): string {
    return dispatchKey(this.run.id, this.record.id, this.record.attempt)
  }
  /**
   * Moves the call to a state, which is recorded for the policies that count calls: the only way to another state.
   * @param change what else changes with the move
   * @throws Error for a move that `callMoves` does not have: a bug, over which the run fails
   */
  to(state: CallState, change?: CallChange): ToolCall {
    const { id, state: here } = this.record
    if (callMoves[here.at][state.at] === undefined)
      throw new Error(`The call ${id} of ${this.record.ref} cannot go from ${here.at} to ${state.at}.`)
    const next = toCall({ ...membersOf(this.record), ...change, state })
    recordCall(this.run, this.turn, next)
    return next
  }
  /** Moves the call to where it is authorized again, with the approval that it has. */
  toProposed(): ToolCall {
    const { approval } = this.record
    return this.to({ at: 'proposed', ...(approval && { approved: approval }) })
  }
  /** A handle on the changed call, whose state stays. */
  with(change: CallChange): CallHandle {
    return this.as(toCall({ ...membersOf(this.record), ...change }))
  }
  /** A handle on the call without these members. */
  without(...members: readonly LosableMember[]): CallHandle {
    const left: { -readonly [Member in keyof CallMembers]: CallMembers[Member] } = { ...membersOf(this.record) }
    for (const member of members) delete left[member]
    return this.as(toCall(left))
  }
  /** A handle on the call as a method has returned it. */
  as(record: ToolCall): CallHandle {
    return new CallHandle(this.run, this.turn, record)
  }
  /** Records the call under a state in which it is not: how a run that ended left it, or what a plan assumes of it. */
  recordAs(state: 'unknown' | 'skipped' | 'approved'): void {
    recordCall(this.run, this.turn, this.record, state)
  }
  /** Records the outcome of the call for the effect key that it holds. */
  endEffect(state: EffectEnd['state'], result?: EffectEnd['result']): void {
    endEffectOf(this.run, this.record, state, result)
  }
  /** Adds the step of a dispatch, open until the call has a result. */
  addDispatchStep(route: string): void {
    this.run.addStep('ToolCall', dispatchContent(this, route), { open: true })
  }
  /** The open step of the call: its dispatch or its delegation. */
  openStep(): RunStep | undefined {
    return this.run.lastStep(
      ({ type, finishedAt, content }) =>
        finishedAt === null &&
        (type === 'ToolCall' || type === 'SubAgentCall') &&
        content['tool_call_id'] === this.record.id,
    )
  }
  /** Closes the step of a dispatch that has no result. */
  closeDispatch(error: string): void {
    const open = this.openStep()
    if (open) this.run.closeStep(open, error)
  }
}

/** Records the outcome of a call that exists only as a record. */
export function endEffectOf(
  run: RunHandle,
  call: { readonly ref: string } & ({ readonly id: string } | { readonly callId: string }),
  state: EffectEnd['state'],
  result?: EffectEnd['result'],
): void {
  const hasKey = run.snapshot.tools.some(({ id, labels }) => id === call.ref && labels[EFFECT_KEY] !== undefined)
  if (!hasKey && !undoKeyOf(run.record)) return
  const callId = 'id' in call ? call.id : call.callId
  run.tx.effects.end({ runId: run.id, callId, state, ...(result !== undefined && { result }) })
}

function dispatchContent({ record, tool: bound, idempotencyKey }: CallHandle, route: string): JsonObject {
  const tool = bound ?? offeredToolOf(record)
  return {
    tool_call_id: record.id,
    name: record.name,
    ref: record.ref,
    version: tool?.version ?? '',
    arguments: record.arguments,
    side_effect_class: tool?.sideEffectClass ?? null,
    attempt: record.attempt,
    idempotency_key: idempotencyKey,
    route,
  }
}

/** Records a call, unless its record is the same but for the time: that is the time of the last change of its state. */
function recordCall(run: RunHandle, turn: number, call: ToolCall, state = recordedState(call.state)): void {
  const { tx, id: runId } = run
  const { id: callId, ref, argumentsDigest, attempt } = call
  const earlier = run.callRow(callId)
  if (earlier?.state === state && earlier.attempt === attempt && earlier.argumentsDigest === argumentsDigest) return
  tx.recordCallRow({
    sessionId: tx.session.id,
    runId,
    callId,
    agentId: run.record.agentId,
    ref,
    argumentsDigest,
    arguments: call.arguments,
    state,
    attempt,
    idempotencyKey: idempotencyKeyOf(runId, turn, call.index),
    at: tx.now,
  })
}

/** The state as policies count it: how a settled call ended, and whether a proposed one has its approval. */
function recordedState(state: CallState): string {
  if (state.at === 'settled') return state.outcome
  return state.at === 'proposed' && state.approved ? 'approved' : state.at
}
