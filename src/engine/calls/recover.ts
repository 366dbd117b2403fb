/**
 * Recovers calls of unknown outcome: the process that sent them ended, or their tool never answered. The side-effect class
 * decides how. Source: docs/design/runs-and-recovery.md#after-a-crash
 */
import type { ToolCall } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { isRepeatable } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import { openOutcomeReview } from '../review/review.ts'
import { routeToPerson } from './gate/gate.ts'
import { settleWithError, toolError } from './settle.ts'

/** Dispatches of a safe call that time out, before the model gets the error. */
export const MAX_LIVE_ATTEMPTS = 3
/** Dispatches of a safe call across restarts. */
export const MAX_ATTEMPTS = 10
/** How long a tool is assumed to remember an idempotency key. Source: docs/design/runs-and-recovery.md#after-a-crash */
const KEY_TTL_MS = 24 * 3600_000

/** Attempts of a call, without those that its server answered with questions. */
export const realAttemptsOf = ({ record: { attempt, input } }: CallHandle): number => attempt - (input?.rounds ?? 0)

/** A dispatch of unknown outcome. */
export interface LostDispatch {
  readonly error: string
  /** Code of the error that the model gets. */
  readonly code: string
  /** Attempts after which a safe call is not sent again. */
  readonly attempts: number
  /** The review of the same call that a new one replaces. */
  readonly earlier?: TaskRecord
}

/** False once the tool may have forgotten the key of the call, which it has known since the first attempt. */
const isKeyRemembered = ({ tx, record }: CallHandle): boolean => tx.now - (record.firstSentAt ?? tx.now) < KEY_TTL_MS

/** True for a call whose repetition does no harm, although an earlier attempt may have been made. */
export const mayBeRepeated = (call: CallHandle): boolean =>
  isReadOnlyCall(call) || (isRepeatable(call.tool?.sideEffectClass) && isKeyRemembered(call))

export const isReadOnlyCall = ({ tool }: CallHandle): boolean => tool?.sideEffectClass === 'read_only'

/** Asks what became of a call that may have been made and was held for too long to be sent again; undefined for any other. */
export const reviewForgotten = (call: CallHandle): ToolCall | undefined =>
  call.record.inDoubt && !isKeyRemembered(call)
    ? openOutcomeReview(call, 'It was held for longer than its tool remembers its key.')
    : undefined

/** The next attempt of a call of unknown outcome, whose dispatch is closed; undefined for a call that must not be sent again. */
export function prepareRepetition(
  call: CallHandle,
  { error, attempts }: Pick<LostDispatch, 'error' | 'attempts'>,
): CallHandle | undefined {
  const { attempt } = call.record
  if (!mayBeRepeated(call) || realAttemptsOf(call) >= attempts) return undefined
  call.closeDispatch(error)
  return call.with({ attempt: attempt + 1, ...(!isReadOnlyCall(call) && { inDoubt: true }) })
}

/**
 * Recovers a dispatch of unknown outcome. A safe call is sent again with the same key; any other is reviewed by a person, and
 * the model gets no result, since it would call again.
 */
export function recoverDispatch(call: CallHandle, lost: LostDispatch): ToolCall {
  const { error, code, earlier } = lost
  const again = prepareRepetition(call, lost)
  if (again) return again.to({ at: 'ready' })
  if (isReadOnlyCall(call) && !call.record.inDoubt)
    return routeLost(call, error, code) ?? settleWithError(call, 'failed', toolError(code, error))
  return openOutcomeReview(call, error, earlier)
}

/** The read as a policy routes it to a person, once its own attempts are used up; undefined where none does. */
export function routeLost(call: CallHandle, error: string, code: string): ToolCall | undefined {
  const routed = routeToPerson(call, code === 'dispatch:timeout' ? 'timeout' : 'indeterminate')
  if (!routed) return undefined
  call.closeDispatch(error)
  return call.as(routed).with({ attempt: call.record.attempt + 1 }).record
}
