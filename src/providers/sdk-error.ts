/** Converts what the vendors' SDKs throw into errors for people. */
import type { Clock } from '../base/clock.ts'
import { ENDLESS_ANSWER } from '../base/net/chunk-response.ts'
import { EGRESS_REFUSED } from '../base/net/transport.ts'
import { parseUrl } from '../base/net/parse-url.ts'
import { cutText, shortenText } from '../base/text/cut-text.ts'
import { parseJsonIfAny, textOf } from '../base/json/json.ts'
import { retryAfterMs } from '../base/retry.ts'
import type { Redactor, Secret } from '../base/secret.ts'
import { innermostMessage } from '../base/failure.ts'
import {
  isFilteredRequest,
  isQuotaSpent,
  isRetryableStatus,
  mayPass,
  messageIn,
  NO_REASON,
  retryDelayIn,
  statusIn,
  textOfPage,
  typesIn,
} from './reading/error-body.ts'
import { CutStream, describeForm, FormProblem } from './reading/form-problem.ts'
import { ProviderError, ProviderFormError, type ProviderErrorFacts } from './provider.ts'

/** Advice for a request that the vendor refused, each as one sentence. */
export interface ProviderRemedies {
  readonly key: string
  readonly model: string
  readonly address: string
}

export interface SdkErrorParts {
  /** The provider's name in the project or document, and its host where it is not the vendor's own. */
  readonly peer?: string
  readonly key?: Secret
  readonly redactor: Redactor
  readonly clock: Clock
  readonly remedies?: ProviderRemedies
}

/** Longest message of a vendor that is kept: some servers answer with a whole page. */
const MAX_MESSAGE = 500

/**
 * Converts what the SDKs throw into a ProviderError with the vendor's message, without the key, and whether to retry.
 * An error that is neither an answer nor a connection error is a bug and is returned unchanged.
 */
export function toProviderError(error: unknown, parts: SdkErrorParts): unknown {
  if (!(error instanceof Error)) return error
  const { key, redactor, clock, remedies, peer } = parts
  const scrub = (text: string): string => redactor.text(key ? text.replaceAll(key.reveal(), '***') : text)
  const convert = (text: string, remedy: string | undefined, about: Omit<ErrorFacts, 'cause'>): ProviderError =>
    new ProviderError(withRemedy(scrub(text), remedy), { ...about, cause: error })
  if (error instanceof FormProblem) {
    const who = peer === undefined ? 'The model provider' : `The model provider ${peer}`
    const message = withRemedy(
      scrub(`${who} answered in a form that its API does not have: ${error.message}`),
      undefined,
    )
    return new ProviderFormError(message, error.place, error)
  }
  if (error instanceof CutStream) return incompleteStreamError()
  if (error instanceof ProviderError) return convert(error.message, undefined, error as Required<ErrorFacts>)
  const code = codeOf(error)
  if (code === ENDLESS_ANSWER)
    return convert('The model provider sent a line or a text of more than 16 MiB', remedies?.address, {
      retryable: false,
    })
  const { status, headers, body } = answerOf(error)
  // AWS's SDK could not read an answer that was no refusal.
  if (status !== undefined && status < 400) return unreadableAnswerError(remedies, error, headers?.get('location'))
  if (status !== undefined) {
    const wait = (headers && retryDelayMs(headers, clock)) ?? retryDelayIn(body)
    const message = textOfPage(messageIn(body) ?? messageOfSdk(error, status)).trim() || NO_REASON
    const retryable = isRetryableStatus(status)
    const passing = retryable ? 'provider_unreachable' : undefined
    const outage = isQuotaSpent(status, message, body) ? 'quota_spent' : passing
    return convert(
      `The model provider answered ${status}: ${message}`,
      remedies && remedyOf(status, message, body, remedies),
      {
        status,
        retryable,
        isFiltered: !retryable && isFilteredRequest(body),
        ...(outage && { outage }),
        ...(wait !== undefined && { retryAfterMs: wait }),
      },
    )
  }
  const told = messageIn(body)
  if (told !== undefined)
    return convert(
      `The model provider broke off: ${textOfPage(told)}`,
      remedies && remedyOf(statusIn(body), told, body, remedies),
      isQuotaSpent(statusIn(body), told, body)
        ? { retryable: false, outage: 'quota_spent' }
        : { ...unreachableUnless(!mayPass(body)), isFiltered: isFilteredRequest(body) },
    )
  if (error instanceof SyntaxError)
    return convert(`The model provider's answer cannot be read: ${error.message}`, remedies?.address, {
      retryable: true,
    })
  if (!('status' in error) && code === undefined) return error
  return convert(
    `The connection to the model provider failed: ${innermostMessage(error).replace(OPENSSL, '$1')}`,
    code === 'ENOTFOUND' || code?.startsWith('ERR_SSL') || code === 'EPROTO' ? remedies?.address : undefined,
    unreachableUnless(code === EGRESS_REFUSED),
  )
}

/** The reason within a message of OpenSSL, which has numbers, functions and files around it. */
const OPENSSL = /^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):.*$/s

type ErrorFacts = ProviderErrorFacts

const unreachableUnless = (isPermanentError: boolean): Omit<ErrorFacts, 'cause'> =>
  isPermanentError ? { retryable: false } : { retryable: true, outage: 'provider_unreachable' }

/** One line of at most `MAX_MESSAGE` characters, and the remedy as a sentence of its own. */
function withRemedy(message: string, remedy: string | undefined): string {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  const short = line.length > MAX_MESSAGE ? `${cutText(line, MAX_MESSAGE - 3).text}...` : line.toWellFormed()
  return remedy === undefined ? short : `${short.replace(/[.!?]$/, '')}. ${remedy}`
}

interface VendorAnswer {
  readonly status?: number
  readonly headers?: Pick<Headers, 'get'>
  readonly body?: unknown
}

/** The HTTP answer that an error reports: OpenAI's and Anthropic's SDKs have fields for it, Google's has its text, AWS's metadata. */
function answerOf(error: Error): VendorAnswer {
  const {
    status,
    headers,
    error: body,
    $metadata,
    $response,
    $responseBodyText,
    $fault,
  } = error as Error & SdkErrorFields
  const aws = $metadata?.httpStatusCode
  if (typeof aws === 'number')
    return {
      status: aws,
      headers: new Headers($response?.headers ?? {}),
      // A body that is no JSON: the SDK's message says where.
      body: { message: textOf($responseBodyText) || error.message, type: error.name },
    }
  // AWS's error inside a stream.
  if ($fault !== undefined) return { body: { message: error.message, type: error.name } }
  return {
    ...(typeof status === 'number' && { status }),
    ...(isReadable(headers) && { headers }),
    body: body ?? (typeof status === 'number' ? parseJsonIfAny(error.message) : undefined),
  }
}

/** What an SDK says of an answer in which it found no message: the status, and the body as it came. */
const messageOfSdk = ({ message }: Error, status: number): string => {
  const text = message.replace(new RegExp(`^${status} `), '')
  return text === 'status code (no body)' ? NO_REASON : text
}

/** Headers of an answer, or the fields that our transport gives for them. */
const isReadable = (headers: unknown): headers is Pick<Headers, 'get'> =>
  typeof (headers as { readonly get?: unknown } | null | undefined)?.get === 'function'

interface SdkErrorFields {
  readonly status?: unknown
  readonly headers?: unknown
  readonly error?: unknown
  readonly $fault?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $responseBodyText?: unknown
  readonly $response?: { readonly headers?: Record<string, string> }
}

/** For a stream that ended before the answer was complete. */
export const incompleteStreamError = (): ProviderError =>
  new ProviderError('The model provider closed the stream before the answer was complete.', {
    retryable: true,
    outage: 'provider_unreachable',
  })

/** Reasons with which servers say that they broke off: another attempt may not meet them. */
const BROKEN_OFF: ReadonlySet<string> = new Set([
  'error',
  'abort',
  'aborted',
  'cancelled',
  'timeout',
  'network_error',
  'insufficient_system_resource',
  'overloaded',
  'other',
  'finish_reason_unspecified',
  'malformed_function_call',
  'unexpected_tool_call',
  'malformed_model_output',
  'malformed_response',
  'too_many_tool_calls',
  'malformed_tool_use',
  'incomplete',
])

/** For a reason to end an answer that is none of the known ones. */
export const unknownFinishError = (reason: unknown, place: string): Error =>
  typeof reason === 'string' && BROKEN_OFF.has(reason.toLowerCase().replace(/^function_call_filter: */, ''))
    ? new ProviderError(`The model provider broke off the answer: ${shortenText(reason, 64)}.`, { retryable: true })
    : new FormProblem(place, `${describeForm(reason)}, which is not a known reason to end an answer`)

/**
 * For an answer that does not have the form of the vendor's API.
 * @param location where a redirect leads; no request follows it
 */
export function unreadableAnswerError(
  remedies: ProviderRemedies | undefined,
  cause?: unknown,
  location?: string | null,
): ProviderError {
  const host = location ? parseUrl(location)?.host : undefined
  const what = host === undefined ? 'something other than a completion' : `a redirect to ${host}`
  return new ProviderError(withRemedy(`The model provider answered with ${what}`, remedies?.address ?? ''), {
    retryable: true,
    cause,
  })
}

/** Prefers `retry-after-ms`, which is more precise than `retry-after`. */
function retryDelayMs(headers: Pick<Headers, 'get'>, clock: Clock): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') || Number.NaN)
  return Number.isFinite(milliseconds)
    ? Math.max(0, milliseconds)
    : retryAfterMs(headers.get('retry-after'), clock.now())
}

const QUOTA_REMEDY = "The account's quota is used up: raise it at the vendor."

/** Advice for the author or the operator; undefined if only waiting helps. */
function remedyOf(
  status: number | undefined,
  message: string,
  body: unknown,
  { key, model }: ProviderRemedies,
): string | undefined {
  if (isQuotaSpent(status, message, body)) return QUOTA_REMEDY
  const types = typesIn(body)
  // Google answers a wrong key with 400.
  if (status === 401 || status === 403 || (status === 400 && /api key/i.test(message))) return key
  if (status === 404 || types.includes('model_not_found') || (status === 400 && /model identifier/i.test(message)))
    return model
  return undefined
}

/** Whether the connection broke, for whatever reason, while an answer was read. */
export function isConnectionFault(error: unknown): boolean {
  if (error instanceof CutStream) return true
  if (error instanceof ProviderError) return error.outage === 'provider_unreachable'
  const code = codeOf(error)
  return code !== undefined && code !== ENDLESS_ANSWER && code !== EGRESS_REFUSED
}

const codeOf = (error: unknown, depth = 0): string | undefined => {
  if (!(error instanceof Error) || depth > 8) return undefined
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : codeOf(error.cause, depth + 1)
}
