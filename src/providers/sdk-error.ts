import type { Clock } from '../base/clock.ts'
import { EGRESS_REFUSED } from '../base/egress.ts'
import { retryAfterMs } from '../base/retry.ts'
import type { Redactor, Secret } from '../base/secret.ts'
import type { FetchFunction } from '../base/transport.ts'
import { isRetryableStatus, ProviderError } from './provider.ts'

/** What a client of a vendor's SDK is made from. */
export interface SdkParts {
  readonly key?: Secret
  /** Absent = the vendor's own address. */
  readonly baseUrl?: string
  /** The way out. */
  readonly fetch: FetchFunction
  readonly redactor: Redactor
  readonly clock: Clock
}

/**
 * What the two SDKs throw, as one kind of error: the vendor's sentence without the key, and whether to try again.
 * Anything that is neither an answer nor a fault of the connection is a bug and is thrown as it is.
 */
export function toProviderError(error: unknown, { key, redactor, clock }: SdkParts): unknown {
  if (error instanceof ProviderError || !(error instanceof Error)) return error
  const { status, headers, error: body } = error as Error & { status?: unknown; headers?: unknown; error?: unknown }
  const scrub = (text: string): string => redactor.text(key ? text.replaceAll(key.reveal(), '***') : text)
  if (typeof status === 'number') {
    const wait = headers instanceof Headers ? waitOf(headers, clock) : undefined
    return new ProviderError(scrub(`The model provider answered ${status}: ${sentenceOf(body) ?? error.message}`), {
      status,
      retryable: isRetryableStatus(status),
      ...(wait !== undefined && { retryAfterMs: wait }),
      cause: error,
    })
  }
  // An error that arrives inside a stream has no status, only a type.
  if (sentenceOf(body) !== undefined)
    return new ProviderError(scrub(`The model provider broke off: ${sentenceOf(body)}`), {
      retryable: !isPermanent(body),
      cause: error,
    })
  if ('status' in error || error instanceof SyntaxError || codeOf(error) !== undefined)
    return new ProviderError(scrub(`The connection to the model provider failed: ${reasonOf(error)}`), {
      retryable: codeOf(error) !== EGRESS_REFUSED,
      cause: error,
    })
  return error
}

/** A stream that ended before the answer did. */
export const brokenStream = (): ProviderError =>
  new ProviderError('The model provider closed the stream before the answer was complete.', { retryable: true })

/** An answer that ended for a reason which does not say that it is whole. */
export const unknownFinish = (reason: string): ProviderError =>
  new ProviderError(`The model provider ended the answer with "${reason.slice(0, 64)}", which is no known reason.`, {
    retryable: true,
  })

/** `retry-after-ms` is more precise than `retry-after` where a vendor sends both. */
function waitOf(headers: Headers, clock: Clock): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  return Number.isFinite(milliseconds)
    ? Math.max(0, milliseconds)
    : retryAfterMs(headers.get('retry-after'), clock.now())
}

/** `{message}` or `{error: {message}}`, as the vendors nest it. */
function sentenceOf(body: unknown): string | undefined {
  const { message, error } = Object(body) as { message?: unknown; error?: unknown }
  return typeof message === 'string' ? message : error === undefined ? undefined : sentenceOf(error)
}

const PERMANENT = new Set([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'billing_error',
  'insufficient_quota',
])

function isPermanent(body: unknown): boolean {
  const { type, error } = Object(body) as { type?: unknown; error?: unknown }
  return (typeof type === 'string' && PERMANENT.has(type)) || (error !== undefined && isPermanent(error))
}

const codeOf = (error: unknown, depth = 0): string | undefined => {
  if (!(error instanceof Error) || depth > 8) return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause, depth + 1)
}

/** The innermost message says what happened; the SDKs' own says "Connection error." */
function reasonOf(error: Error): string {
  let innermost = error
  for (let depth = 0; depth < 8 && innermost.cause instanceof Error && innermost.cause.message; depth++)
    innermost = innermost.cause
  return innermost.message
}
