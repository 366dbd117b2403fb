import { shortenText } from '../base/text/cut-text.ts'
import { giveWay, startWork } from '../base/event-loop.ts'
import { InexactNumberError } from '../base/json/exact-number.ts'
import { isJsonObject, JsonBoundError, parseJson, type JsonValue } from '../base/json/json.ts'
import { MAX_OUTPUT_BYTES, type ToolInvocation, type InvocationBody, type ToolOutcome } from './tool.ts'

/** The JSON that command and http tools receive: the call, its idempotency key, and the run that made it. */
export const toInvocationBody = (invocation: ToolInvocation): InvocationBody => ({
  tool: invocation.tool.id,
  arguments: invocation.arguments,
  idempotency_key: invocation.idempotencyKey,
  ...(invocation.completionToken !== undefined && { completion_token: invocation.completionToken }),
  run: {
    id: invocation.run.id,
    session_id: invocation.run.sessionId,
    agent: invocation.run.agent,
    version: invocation.run.version,
    tool_call_id: invocation.callId,
    attempt: invocation.attempt,
  },
})

/** For a call that `mayLeave` held back. */
export const HELD_BACK = {
  at: 'not_sent',
  code: 'held_back',
  error: 'The call was held back before it was sent.',
} as const satisfies ToolOutcome

/** The outcome of a call that was not carried out. */
export const refusedOutcome = (error: string): ToolOutcome => ({ at: 'not_sent', code: 'refused', error })

/**
 * The outcome of a call that was answered. A result beyond `MAX_OUTPUT_BYTES` becomes its beginning as text, with a note: a tool that
 * wrote more than svc keeps has answered.
 */
export const returnedOutcome = (result: JsonValue, isError: boolean, durationMs: number): ToolOutcome => ({
  at: 'returned',
  result: boundResult(result),
  isError,
  durationMs: Math.round(durationMs),
})

function boundResult(result: JsonValue): JsonValue {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  // No character has more than three bytes for each of its code units.
  if (text.length * 3 <= MAX_OUTPUT_BYTES) return result
  const bytes = Buffer.from(text)
  if (bytes.byteLength <= MAX_OUTPUT_BYTES) return result
  return `${decodeBeginning(bytes.subarray(0, MAX_OUTPUT_BYTES))}${cutNote('the output', MAX_OUTPUT_BYTES)}`
}

/** Decodes in streaming mode, which drops a character that the cut divides. */
const decodeBeginning = (bytes: Uint8Array): string => new TextDecoder().decode(bytes, { stream: true })

/** An error of a tool, which may say that it did nothing. Source: docs/design/policies.md#effect-keys */
export const failedOutcome = (result: JsonValue, durationMs: number, didNothing: boolean): ToolOutcome => {
  const outcome = returnedOutcome(result, true, durationMs)
  return didNothing && outcome.at === 'returned' ? { ...outcome, notExecuted: true } : outcome
}

/** True for an error that is, or is the text of, an object with `not_executed: true`. */
export function saysNotExecuted(error: unknown): boolean {
  if (typeof error !== 'string') return isJsonObject(error) && error['not_executed'] === true
  const text = error.trim()
  if (!text.startsWith('{') || !text.includes('not_executed')) return false
  try {
    return saysNotExecuted(parseJson(text))
  } catch {
    return false
  }
}

/** For an unusable answer of a call that was executed: the text must not let the model think that it was not. */
export const unusableOutcome = (why: string, durationMs: number, cutAt?: number): ToolOutcome =>
  returnedOutcome(
    `The call was executed, but ${why}${cutAt === undefined ? '' : cutNote('the answer', cutAt)}`,
    true,
    durationMs,
  )

/** Stands at the end of what was cut. */
export const cutNote = (what: 'the output' | 'the answer', maxBytes: number): string =>
  `\n[cut: ${what} is longer than ${maxBytes} bytes]`

/** Parses the output of a tool as its result; empty output is null. Output that is too long is not parsed. */
export async function parseResult(output: Uint8Array, durationMs: number): Promise<ToolOutcome> {
  const tookLong = startWork()
  const outcome = parseOutput(output, durationMs)
  // Recording a large result takes as long again.
  if (tookLong()) await giveWay()
  return outcome
}

function parseOutput(output: Uint8Array, durationMs: number): ToolOutcome {
  if (output.byteLength > MAX_OUTPUT_BYTES) return returnedOutcome(decodeBeginning(output), false, durationMs)
  const text = new TextDecoder().decode(output)
  if (text.trim() === '') return returnedOutcome(null, false, durationMs)
  try {
    return returnedOutcome(parseJson(text), false, durationMs)
  } catch (error) {
    if (error instanceof InexactNumberError) return inexactNumberOutcome(error, text, durationMs)
    if (error instanceof JsonBoundError) return exceededOutcome(error.message, durationMs)
    return unusableOutcome(`its output is not JSON: ${shortenText(text.trim(), 500)}`, durationMs)
  }
}

/** For a result with a number that cannot be represented exactly. The model gets the output as text. */
export const inexactNumberOutcome = (error: InexactNumberError, text: string, durationMs: number): ToolOutcome =>
  unusableOutcome(`its output is refused: ${error.message}. It wrote: ${shortenText(text.trim(), 2000)}`, durationMs)

/** For a result beyond a bound of JSON, as `JsonBoundError` names it. */
export const exceededOutcome = (bound: string, durationMs: number): ToolOutcome =>
  unusableOutcome(`its output is ${bound}.`, durationMs)

/**
 * A signal that fires with the caller's signal, after `timeoutMs`, or `idleMs` after the last `extend`; `timedOut` tells whether it was
 * one of the two times. The caller must call `release`, which stops the timers.
 * @param idleMs counts from the first `extend`
 */
export function withDeadline(
  timeoutMs: number,
  signal: AbortSignal,
  idleMs?: number,
): {
  readonly signal: AbortSignal
  timedOut(): 'whole' | 'idle' | undefined
  extend(): void
  /** Stops the time between two reports, until the next one. */
  hold(): void
  release(): void
} {
  const controller = new AbortController()
  let timedOut: 'whole' | 'idle' | undefined
  const stop = (): void => controller.abort(signal.reason)
  const startTimer = (ms: number, bound: 'whole' | 'idle'): NodeJS.Timeout =>
    setTimeout(() => {
      timedOut ??= bound
      controller.abort(new Error(`no answer within ${ms} ms`))
    }, ms)
  const timer = startTimer(timeoutMs, 'whole')
  let idle: NodeJS.Timeout | undefined
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    extend() {
      clearTimeout(idle)
      if (idleMs !== undefined) idle = startTimer(idleMs, 'idle')
    },
    hold: () => clearTimeout(idle),
    release() {
      clearTimeout(timer)
      clearTimeout(idle)
      signal.removeEventListener('abort', stop)
    },
  }
}
