import { InexactNumberError } from '../base/exact-number.ts'
import { MAX_JSON_LEVELS, parseJson, TOO_DEEP, type JsonValue } from '../base/json.ts'
import { MAX_OUTPUT_BYTES, type ToolInvocation, type InvocationBody, type ToolOutcome } from './tool.ts'

/** What a tool of any route is told: the call, the key that is the same for every attempt, and whose call it is. */
export const bodyOf = (invocation: ToolInvocation): InvocationBody => ({
  tool: invocation.tool.id,
  arguments: invocation.arguments,
  idempotency_key: invocation.idempotencyKey,
  run: {
    id: invocation.run.id,
    session_id: invocation.run.sessionId,
    agent: invocation.run.agent,
    version: invocation.run.version,
    tool_call_id: invocation.callId,
    attempt: invocation.attempt,
  },
})

export const returnedOutcome = (result: JsonValue, isError: boolean, durationMs: number): ToolOutcome => ({
  at: 'returned',
  result,
  isError,
  durationMs: Math.round(durationMs),
})

/** An answer nobody can use, of a call that was carried out: the model must not take it for one that was not. */
const unusable = (why: string, durationMs: number): ToolOutcome =>
  returnedOutcome(`The call was executed, but ${why}`, true, durationMs)

/** The beginning of an output that is longer than a result may be, as text that says so. */
export const cutOutput = (bytes: Uint8Array, durationMs: number): ToolOutcome =>
  returnedOutcome(`${beginning(bytes)}\n[cut: the output is longer than ${MAX_OUTPUT_BYTES} bytes]`, false, durationMs)

/** Streaming, so that a character that the cut divides is left out. */
const beginning = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes.subarray(0, MAX_OUTPUT_BYTES), { stream: true })

/** Reads what a tool wrote as its result; nothing at all is null. Of what is too long, the beginning is the result. */
export function parseResult(output: Uint8Array, durationMs: number): ToolOutcome {
  if (output.byteLength > MAX_OUTPUT_BYTES) return cutOutput(output, durationMs)
  const text = new TextDecoder().decode(output)
  if (text.trim() === '') return returnedOutcome(null, false, durationMs)
  try {
    return returnedOutcome(parseJson(text), false, durationMs)
  } catch (error) {
    if (error instanceof InexactNumberError) return inexact(error, text, durationMs)
    if ((error as SyntaxError).message === TOO_DEEP) return tooDeep(durationMs)
    return unusable(`its output is not JSON: ${text.trim().slice(0, 500)}`, durationMs)
  }
}

/** The outcome of a call whose result has a number that would be changed. What it wrote is shown as text. */
export const inexact = (error: InexactNumberError, text: string, durationMs: number): ToolOutcome =>
  unusable(`its output is refused: ${error.message}. It wrote: ${text.trim().slice(0, 2000)}`, durationMs)

/** The outcome of a call whose result cannot be kept. */
export const tooDeep = (durationMs: number): ToolOutcome =>
  unusable(`its output is nested deeper than ${MAX_JSON_LEVELS} levels.`, durationMs)

/**
 * A signal that fires with the caller's, or after `timeoutMs`; `timedOut` tells which it was.
 * `release` ends the timer and must be called.
 */
export function withDeadline(
  timeoutMs: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; timedOut(): boolean; release(): void } {
  const controller = new AbortController()
  let timedOut = false
  const stop = (): void => controller.abort(signal.reason)
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort(new Error(`no answer within ${timeoutMs} ms`))
  }, timeoutMs)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
}
