/**
 * The one place where failures become responses. Any other error is a bug: 500 `internal` without details.
 * Source: docs/design/http.md#bodies-and-errors
 */
import { fail, failures, isFailure, type Failure } from '../../base/failure.ts'
import type { Redactor } from '../../base/secret.ts'
import type { ErrorBody } from '../../spec/api.ts'
import type { HttpReply } from './reply.ts'

/** `Retry-After` of every 429 and 503 whose failure has none. */
const RETRY_AFTER_SECONDS = 1

export function toProblem(error: unknown, requestId: string, redactor: Redactor): HttpReply {
  const failure = hasHttpStatus(error) ? error : fail('internal')
  const { details, fix, headers, retryAfterSeconds } = failure.extras
  const body: ErrorBody = {
    error: redactor.text(failure.message),
    code: failure.code,
    ...(details && details.length > 0 && { details: redactor.json(details) }),
    ...(fix !== undefined && { fix: redactor.text(fix) }),
    requestId,
  }
  const retry =
    failure.status === 429 || failure.status === 503
      ? String(Math.ceil(retryAfterSeconds ?? RETRY_AFTER_SECONDS))
      : undefined
  return { status: failure.status, json: body, headers: { ...headers, ...(retry && { 'retry-after': retry }) } }
}

/** Codes without a status belong to the command line or the store; one that arrives here is a bug. */
const hasHttpStatus = (error: unknown): error is Failure => isFailure(error) && 'status' in failures[error.code]
