/**
 * A tool behind a URL: the call is POSTed as JSON, or sent as another request, and the response body is the result.
 * Source: docs/design/models-and-tools.md#where-a-tool-runs
 */
import type { Clock } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import type { Redactor } from '../../base/secret.ts'
import { retryAfterMs } from '../../base/retry.ts'
import { isHeldBack, isUnsent, unsentCode, type FetchFunction } from '../../base/net/transport.ts'
import {
  failedOutcome,
  HELD_BACK,
  parseResult,
  returnedOutcome,
  saysNotExecuted,
  toInvocationBody,
  withDeadline,
} from '../outcome.ts'
import { READ_OUTPUT_BYTES, type ToolInvocation, type ToolOutcome } from '../tool.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface HttpParts {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Must neither follow redirects nor reuse connections: a call may be sent at most once. */
  readonly fetch: FetchFunction
  readonly timeoutMs: number
  readonly clock: Clock
  readonly redactor: Redactor
}

/** A request in place of the POST of the invocation. Its answer may be text. */
export interface HttpToolRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export async function callHttp(
  parts: HttpParts,
  invocation: ToolInvocation,
  signal: AbortSignal,
  own?: HttpToolRequest,
): Promise<ToolOutcome> {
  if (signal.aborted) return { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
  const started = parts.clock.monotonic()
  const limit = withDeadline(parts.timeoutMs, signal)
  const host = parseUrl(parts.url)?.host ?? parts.url
  try {
    const response = await parts.fetch(parts.url, {
      redirect: 'manual',
      signal: limit.signal,
      mayLeave: invocation.mayLeave,
      ...(own ? addHeaders(own, parts, invocation) : postInvocation(parts, invocation)),
    })
    const body = await readBody(response, READ_OUTPUT_BYTES)
    const took = parts.clock.monotonic() - started
    if (response.status >= 300) {
      const text = body.toString('utf8').trim()
      const detail = text === '' ? '' : `: ${parts.redactor.cut(text, TAIL_CHARACTERS, 'end').text}`
      const location = response.headers.get('location')
      const refused = saysNotExecuted(text)
        ? undefined
        : toRefusal(response, invocation, `${host} answered ${response.status}${detail}`, parts.clock)
      if (refused) return refused
      return failedOutcome(
        `HTTP ${response.status}${location === null ? '' : ` (a redirect to ${location}, which is not followed)`}${detail}`,
        took,
        NOT_EXECUTED.has(response.status) || saysNotExecuted(text),
      )
    }
    const type = own && response.headers.get('content-type')
    if (type && !/^[^;]*[/+]json\s*(?:;|$)/i.test(type)) return readText(body, type, took)
    return await parseResult(body, took)
  } catch (error) {
    if (isHeldBack(error)) return HELD_BACK
    if (isUnsent(error) && signal.aborted)
      return { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
    if (isUnsent(error))
      return {
        at: 'not_sent',
        code: unsentCode(error),
        error: `${host} cannot be reached: ${(error as Error).message}`,
      }
    if (limit.timedOut())
      return { at: 'unknown', code: 'timeout', error: `${host} did not answer within ${parts.timeoutMs} ms.` }
    return {
      at: 'unknown',
      code: 'broken',
      error: `The connection to ${host} broke during the call: ${(error as Error).message}`,
    }
  } finally {
    limit.release()
  }
}

const postInvocation = ({ headers }: HttpParts, invocation: ToolInvocation): HttpToolRequest => ({
  method: 'POST',
  headers: {
    accept: 'application/json',
    ...invocation.trace,
    ...headers,
    'content-type': 'application/json',
    'idempotency-key': invocation.idempotencyKey,
    // Lets the tool refuse a call that arrives too late.
    'svc-not-after': new Date(invocation.notAfter).toISOString(),
  },
  body: JSON.stringify(toInvocationBody(invocation)),
})

/** Headers of the request itself win over configured ones, so that these do not replace an argument that was decided. */
const addHeaders = (own: HttpToolRequest, { headers }: HttpParts, invocation: ToolInvocation): HttpToolRequest => ({
  ...own,
  headers: {
    accept: 'application/json, text/*;q=0.8, */*;q=0.1',
    ...invocation.trace,
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...own.headers,
    'idempotency-key': invocation.idempotencyKey,
  },
})

/** An answer that is not JSON: text as it is, of other content its type and length. */
function readText(body: Buffer, type: string, durationMs: number): ToolOutcome {
  if (body.byteLength === 0) return returnedOutcome(null, false, durationMs)
  const isText = /^\s*(?:text\/|[^;]*(?:xml|yaml|csv|javascript|x-www-form-urlencoded)\s*(?:;|$))/i.test(type)
  const shown = isText ? body.toString('utf8') : `[${body.byteLength} bytes of ${shortenText(type, 100)}]`
  return returnedOutcome(shown, false, durationMs)
}

/** Statuses with which a gateway says that the tool behind it cannot be reached. */
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The call is to be made again later: it was refused before anything was done (429), or a gateway does not reach the tool. What a
 * gateway passed on is unknown, so that only counts where a repetition does no harm; for any other call it is the tool's error.
 */
function toRefusal(
  { status, headers }: Response,
  { tool }: ToolInvocation,
  error: string,
  clock: Clock,
): ToolOutcome | undefined {
  const isSafe = tool.sideEffectClass === 'read_only' || tool.sideEffectClass === 'idempotent_write'
  if (status !== 429 && !(isSafe && UNAVAILABLE.has(status))) return undefined
  const wait = retryAfterMs(headers.get('retry-after'), clock.now())
  const later = wait !== undefined && { retryAfterMs: wait }
  return status === 429
    ? { at: 'not_sent', code: 'unreachable', error, ...later }
    : { at: 'unknown', code: 'broken', error, ...later }
}

/** Statuses of a request that the tool refused before it did anything. Source: docs/design/policies.md#effect-keys */
const NOT_EXECUTED: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 415, 422])

const TAIL_CHARACTERS = 2000

/** Reads at most `maxBytes` of the body. A longer body is cut and its connection closed. */
async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.byteLength
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(chunks)
}
