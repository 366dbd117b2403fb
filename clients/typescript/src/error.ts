/** A failing HTTP status. Source: docs/design/http.md#client */
export class SvcError extends Error {
  override readonly name = 'SvcError'
  readonly status: number
  readonly method: string
  /** Path of the request, without its query. */
  readonly path: string
  /** The body as it came, often JSON text. */
  readonly body: string
  /** `code` of the body: `not_found`, `input_contract_violation`, … */
  readonly code: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(answer: {
    readonly method: string
    readonly status: number
    readonly path: string
    readonly body: string
    readonly requestId?: string | undefined
    readonly retryAfterMs?: number | undefined
  }) {
    const errorBody = wordsOf(answer.body)
    const requestId = errorBody.requestId ?? answer.requestId
    const about = [errorBody.code, requestId && `request ${requestId}`].filter(Boolean).join(', ')
    super(
      `${answer.method} ${answer.path} answered ${answer.status}${errorBody.error ? `: ${errorBody.error}` : '.'}${about ? ` (${about})` : ''}`,
    )
    this.status = answer.status
    this.method = answer.method
    this.path = answer.path
    this.body = answer.body
    this.code = errorBody.code
    this.requestId = requestId
    this.retryAfterMs = answer.retryAfterMs
  }
}

/** No response: the connection was refused or cut, or the response is unreadable. `cause` is the error of `fetch`. */
export class SvcConnectionError extends Error {
  override readonly name = 'SvcConnectionError'
  readonly path: string
  constructor(message: string, path: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.path = path
  }
}

/** `timeoutMs` went by. What was asked for may still happen. */
export class SvcTimeoutError extends Error {
  override readonly name = 'SvcTimeoutError'
  readonly path: string
  readonly timeoutMs: number
  constructor(path: string, timeoutMs: number) {
    super(`${path} did not answer within ${timeoutMs} ms.`)
    this.path = path
    this.timeoutMs = timeoutMs
  }
}

const hasStatus = (error: unknown, status: number): error is SvcError =>
  error instanceof SvcError && error.status === status

export const isNotFound = (error: unknown): error is SvcError => hasStatus(error, 404)
export const isConflict = (error: unknown): error is SvcError => hasStatus(error, 409)
export const isRateLimited = (error: unknown): error is SvcError => hasStatus(error, 429)

/** What the server says of the request itself, and would say again; anything else may pass. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof SvcError && error.status < 500 && error.status !== 408 && error.status !== 429

/** What of the body is text; nothing of a proxy's page, which stays in `body`. */
function wordsOf(body: string): Partial<Record<'error' | 'code' | 'requestId', string | undefined>> {
  try {
    const { error, code, requestId } = Object(JSON.parse(body)) as Record<string, unknown>
    return { error: textOrNothing(error), code: textOrNothing(code), requestId: textOrNothing(requestId) }
  } catch {
    return {}
  }
}

const textOrNothing = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
