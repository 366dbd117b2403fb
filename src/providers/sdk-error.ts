import type { Clock } from '../base/clock.ts'
import { EGRESS_REFUSED } from '../base/egress.ts'
import { retryAfterMs } from '../base/retry.ts'
import type { Redactor, Secret } from '../base/secret.ts'
import { innermostMessage } from '../base/innermost-cause.ts'
import { isRetryableStatus, ProviderError } from './provider.ts'

export interface SdkErrorParts {
  readonly key?: Secret
  readonly redactor: Redactor
  readonly clock: Clock
}

/**
 * Converts what the two SDKs throw into a ProviderError with the vendor's message, without the key, and whether to retry.
 * An error that is neither an answer nor a connection error is a bug and is returned unchanged.
 */
export function toProviderError(error: unknown, { key, redactor, clock }: SdkErrorParts): unknown {
  if (error instanceof ProviderError || !(error instanceof Error)) return error
  const { status, headers, error: body } = error as Error & { status?: unknown; headers?: unknown; error?: unknown }
  const scrub = (text: string): string => redactor.text(key ? text.replaceAll(key.reveal(), '***') : text)
  if (typeof status === 'number') {
    const wait = headers instanceof Headers ? retryDelayMs(headers, clock) : undefined
    return new ProviderError(scrub(`The model provider answered ${status}: ${messageIn(body) ?? error.message}`), {
      status,
      retryable: isRetryableStatus(status),
      ...(wait !== undefined && { retryAfterMs: wait }),
      cause: error,
    })
  }
  // An error inside a stream has no status, only a type.
  if (messageIn(body) !== undefined)
    return new ProviderError(scrub(`The model provider broke off: ${messageIn(body)}`), {
      retryable: !isPermanent(body),
      cause: error,
    })
  if ('status' in error || error instanceof SyntaxError || codeOf(error) !== undefined)
    return new ProviderError(scrub(`The connection to the model provider failed: ${innermostMessage(error)}`), {
      retryable: codeOf(error) !== EGRESS_REFUSED,
      cause: error,
    })
  return error
}

/** For a stream that ended before the answer was complete. */
export const incompleteStreamError = (): ProviderError =>
  new ProviderError('The model provider closed the stream before the answer was complete.', { retryable: true })

/** For a finish reason that is not known, so that the answer may be incomplete. */
export const unknownFinishError = (reason: string): ProviderError =>
  new ProviderError(`The model provider ended the answer with "${reason.slice(0, 64)}", which is not a known reason.`, {
    retryable: true,
  })

/** Prefers `retry-after-ms`, which is more precise than `retry-after`. */
function retryDelayMs(headers: Headers, clock: Clock): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  return Number.isFinite(milliseconds)
    ? Math.max(0, milliseconds)
    : retryAfterMs(headers.get('retry-after'), clock.now())
}

/** The message in `{message}` or `{error: {message}}`, the two shapes that vendors send. */
function messageIn(body: unknown): string | undefined {
  const { message, error } = Object(body) as { message?: unknown; error?: unknown }
  return typeof message === 'string' ? message : error === undefined ? undefined : messageIn(error)
}

const PERMANENT_TYPES = new Set([
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
  return (typeof type === 'string' && PERMANENT_TYPES.has(type)) || (error !== undefined && isPermanent(error))
}

const codeOf = (error: unknown, depth = 0): string | undefined => {
  if (!(error instanceof Error) || depth > 8) return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause, depth + 1)
}
