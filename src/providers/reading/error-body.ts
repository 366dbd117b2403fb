/** What the body of a refusal says, in the shapes in which vendors, model servers and gateways write it. */
import { isJsonObject, parseJsonIfAny } from '../../base/json/json.ts'

/** Stands for the message of a refusal without one. */
export const NO_REASON = 'It gave no reason.'

/** Deeper bodies have nothing to say. */
const MOST_LEVELS = 8
/** Messages of a list that are shown. */
const MOST_LISTED = 3
const MESSAGE_MEMBERS = ['message', 'error', 'detail', 'errors', 'msg'] as const

/**
 * The message of `{message}` or `{error: {message}}`, of a text, of a list of them, and of FastAPI's `detail`; undefined where there is
 * none. OpenRouter's `metadata.raw`, what the provider behind it said, is added.
 */
export function messageIn(body: unknown, levels = MOST_LEVELS): string | undefined {
  if (levels === 0) return undefined
  if (typeof body === 'string') {
    const inner = body.trimStart().startsWith('{') ? messageIn(parseJsonIfAny(body), levels - 1) : undefined
    return inner ?? (body.trim() === '' ? undefined : body)
  }
  if (Array.isArray(body)) {
    const all = body.slice(0, MOST_LISTED).flatMap((each) => messageIn(each, levels - 1) ?? [])
    return all.length === 0 ? undefined : all.join('; ')
  }
  if (!isJsonObject(body)) return undefined
  const found = MESSAGE_MEMBERS.map((name) => messageIn(body[name], levels - 1)).find((each) => each !== undefined)
  if (found === undefined) return undefined
  const { loc, metadata } = body
  if (Array.isArray(loc)) return `${loc.map(String).join('.')}: ${found}`
  const raw = isJsonObject(metadata) ? metadata['raw'] : undefined
  const cause = messageIn(typeof raw === 'string' ? (parseJsonIfAny(raw) ?? raw) : raw, levels - 1)
  return cause === undefined ? found : `${found}: ${cause}`
}

/** The text of a page without its tags: the title where it has one. */
export function textOfPage(text: string): string {
  if (!/^\s*</.test(text)) return text
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim()
  if (title) return title
  return text
    .replaceAll(/<(script|style)\b[^]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .trim()
}

/** Types and codes of a body, outermost first. */
export function typesIn(body: unknown, levels = MOST_LEVELS): readonly unknown[] {
  if (!isJsonObject(body) || levels === 0) return []
  const { type, code, status, error_type: kind, error } = body
  return [type, code, status, kind, ...typesIn(error, levels - 1)]
}

/** The status that an error within a stream would have had: its numeric code. */
export const statusIn = (body: unknown): number | undefined =>
  typesIn(body)
    .map((each) => (typeof each === 'string' && /^\d{3}$/.test(each) ? Number(each) : each))
    .find((each): each is number => Number.isInteger(each) && Number(each) >= 400 && Number(each) < 600)

/** Source: docs/design/models-and-tools.md#attempts */
export const isRetryableStatus = (status: number): boolean => PASSING.has(status) || (status >= 500 && status !== 501)

/** Below 500; 498 is Groq's for no room, 499 that of a proxy that closed the connection. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429, 498, 499])

/** Types with which another attempt would meet the same. */
const PERMANENT_TYPES: ReadonlySet<unknown> = new Set([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'billing_error',
  'insufficient_quota',
  'context_length_exceeded',
  'invalid_prompt',
  'invalid_api_key',
  'model_not_found',
  'content_filter',
  'ValidationException',
  'AccessDeniedException',
  'ResourceNotFoundException',
  // vLLM and SGLang
  'BadRequestError',
  'NotFoundError',
  'UnprocessableEntityError',
  // llama.cpp
  'exceed_context_size_error',
  'not_supported_error',
  // DashScope
  'InvalidApiKey',
  'InvalidParameter',
  'DataInspectionFailed',
  // Text Generation Inference
  'validation',
  // Google
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'PERMISSION_DENIED',
  'UNAUTHENTICATED',
  'NOT_FOUND',
])

/** Whether another attempt may not meet the error that a server sent within a stream: by its numeric code, else by its type. */
export function mayPass(body: unknown): boolean {
  const status = statusIn(body)
  return status === undefined ? !typesIn(body).some((type) => PERMANENT_TYPES.has(type)) : isRetryableStatus(status)
}

/** Azure and those who follow it, DashScope; beside them the type is that of any bad request. */
const FILTER_TYPES: ReadonlySet<unknown> = new Set([
  'content_filter',
  'content_policy_violation',
  'ResponsibleAIPolicyViolation',
  'DataInspectionFailed',
  'data_inspection_failed',
])

/** Whether a filter of the provider refused what was asked. */
export const isFilteredRequest = (body: unknown): boolean => typesIn(body).some((type) => FILTER_TYPES.has(type))

const QUOTA_TYPES: ReadonlySet<unknown> = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_hard_limit_reached',
  'ServiceQuotaExceededException',
])

export const isQuotaSpent = (status: number | undefined, message: string, body: unknown): boolean =>
  status === 402 || typesIn(body).some((type) => QUOTA_TYPES.has(type)) || /credit balance is too low/i.test(message)

/** The delay that Google asks for within a body (`google.rpc.RetryInfo`), in milliseconds. */
export function retryDelayIn(body: unknown): number | undefined {
  const error = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : body
  const details = isJsonObject(error) && Array.isArray(error['details']) ? error['details'] : []
  const asked = details.map((each) => (isJsonObject(each) ? each['retryDelay'] : undefined))
  const seconds = asked.flatMap((each) =>
    typeof each === 'string' ? (/^(\d+(?:\.\d+)?)s$/.exec(each)?.[1] ?? []) : [],
  )[0]
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}
