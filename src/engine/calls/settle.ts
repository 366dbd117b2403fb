/** Settles calls: result step, call record, taint and the count of refusals. */
import { toIsoText } from '../../base/clock.ts'
import { digestOfJson } from '../../base/digest.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ToolCall, CallOutcome, ErrorCode, LateOutcome } from '../../spec/run/run.ts'
import { isTaintSource } from '../../spec/snapshot.ts'
import { mediaOf, MOST_MEDIA_OF_RUN, toHiddenMedia, type ToolMedia } from '../../spec/tool-media.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface SettledCall {
  readonly outcome: CallOutcome
  readonly result: JsonValue
  readonly isError?: boolean
  readonly durationMs?: number
  /** What the tool answered beside text. */
  readonly media?: readonly ToolMedia[]
  /** The tool reported that it did nothing. */
  readonly notExecuted?: boolean
  /** The call is settled, but it is unknown whether it happened. */
  readonly inDoubt?: boolean
  /** The earlier call whose result this is. */
  readonly repeats?: EffectRecord
  /** Fails the run. */
  readonly ends?: { readonly error: string; readonly errorCode: ErrorCode }
}

/** A run fails once the same call, with the same arguments, was refused this often. Source: docs/design/policies.md#the-decision */
const MAX_REFUSALS = 3

/** Records the result of a call as a `ToolResult` step, and closes the step of its dispatch. */
export function settleCall(call: CallHandle, settled: SettledCall): ToolCall {
  const { run, record } = call
  const isError = settled.isError ?? false
  const open = call.openStep()
  if (open) run.closeStep(open, isError ? errorTextOf(settled.result) : undefined)
  run.addStep(
    'ToolResult',
    {
      tool_call_id: record.id,
      name: record.name,
      result: settled.result,
      is_error: isError,
      duration_ms: settled.durationMs ?? 0,
      ...(settled.repeats && {
        repeated: true,
        repeats: { run_id: settled.repeats.runId, at: toIsoText(settled.repeats.at) },
      }),
    },
    { ...(isError && { error: errorTextOf(settled.result) }), ...keptMedia(run, settled.media) },
  )
  if (settled.outcome === 'executed' || settled.outcome === 'failed' || settled.repeats) taintBySource(call)
  endEffect(call, settled)
  return markSettled(call, settled)
}

/** The media of a result as its step keeps them: those for which the run has room. */
function keptMedia(run: RunHandle, media: readonly ToolMedia[] = []): { readonly hidden?: JsonObject } {
  if (media.length === 0) return {}
  const lengthOf = (some: readonly ToolMedia[]): number => some.reduce((sum, { data }) => sum + data.length, 0)
  let length = run.steps().reduce((sum, { hidden }) => sum + lengthOf(mediaOf(hidden)), 0)
  const kept = media.filter(({ data }) => {
    const fits = length + data.length <= MOST_MEDIA_OF_RUN
    if (fits) length += data.length
    return fits
  })
  return { hidden: toHiddenMedia(kept, media.length - kept.length) }
}

/** Longer results are not stored for repetitions; those then need an approval. */
const MAX_KEPT_RESULT = 64 * 1024

function endEffect(call: CallHandle, { outcome, result, isError, notExecuted, inDoubt }: SettledCall): void {
  if (outcome === 'executed') {
    const isKept = isError !== true && JSON.stringify(result).length <= MAX_KEPT_RESULT
    call.endEffect('done', isKept ? result : undefined)
  } else if (outcome === 'failed') call.endEffect(notExecuted && !call.record.inDoubt ? 'not_made' : 'unknown')
  else if (outcome === 'not_sent' || outcome === 'skipped') call.endEffect(inDoubt ? 'unknown' : 'not_made')
}

/** Settles a call with an error for the model. */
export const settleWithError = (
  call: CallHandle,
  outcome: CallOutcome,
  error: JsonObject,
  more: Pick<SettledCall, 'ends' | 'inDoubt'> = {},
): ToolCall => settleCall(call, { outcome, result: error, isError: true, ...more })

/** Settles a call whose result step is added by the caller. */
export function markSettled(call: CallHandle, { outcome, ends }: Pick<SettledCall, 'outcome' | 'ends'>): ToolCall {
  const repeatedDenial = outcome === 'denied' || outcome === 'rejected' ? countRefusal(call) : undefined
  const ending = ends ?? repeatedDenial
  return call.without('input').to({ at: 'settled', outcome, ...(ending && { ends: ending }) })
}

/** A tool error as the model reads it. */
export const toolError = (error: string, message: string, more: JsonObject = {}): JsonObject => ({
  error,
  message,
  ...more,
})

export const errorTextOf = (result: JsonValue): string => {
  if (isJsonObject(result) && typeof result['message'] === 'string') return result['message']
  return typeof result === 'string' ? result : JSON.stringify(result)
}

/** Taint follows text between runs: a summary may repeat what an untrusted source wrote. */
export function passTaint(to: RunHandle, from: RunHandle): void {
  if (from.usage.tainted && !to.usage.tainted) to.updateUsage({ tainted: true })
}

function countRefusal({ run, record: { name, ref, arguments: given } }: CallHandle): SettledCall['ends'] {
  const key = digestOfJson({ ref, arguments: given })
  const { refusals } = run.usage
  const times = (ownMember(refusals, key) ?? 0) + 1
  run.updateUsage({ refusals: { ...refusals, [key]: times } })
  if (times < MAX_REFUSALS) return undefined
  return { error: `${name} was refused ${times} times with the same arguments.`, errorCode: 'repeated_denial' }
}

/** Marks the run as tainted: its transcript now has text of an untrusted source. Source: docs/design/policies.md#facts */
function taintBySource({ run, tool }: CallHandle): void {
  if (tool && isTaintSource(tool)) run.updateUsage({ tainted: true })
}

/** Keeps what became known of a call after its run had ended, in case the run is resumed. The run stays ended. */
export function keepLateOutcome(run: RunHandle, callId: string, { result, isError, notExecuted }: LateOutcome): void {
  const { state } = run
  if (state.at !== 'done' || state.from?.at !== 'calling') return
  const late: LateOutcome = { result, isError, ...(notExecuted && { notExecuted }) }
  const { turn, calls: stopped } = state.from
  const calls = stopped.map((call) =>
    call.id === callId ? new CallHandle(run, turn, call).with({ late }).record : call,
  )
  run.setState({ ...state, from: { ...state.from, calls } })
}
