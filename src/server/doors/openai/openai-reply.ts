/** Answers of OpenAI's interfaces that have nothing to do with a chat. */
import { isFailure } from '../../../base/failure.ts'
import type { ErrorBody } from '../../../spec/api.ts'
import type { AuthenticatedCaller } from '../../auth/auth.ts'
import { detailOf } from '../../http/detail.ts'
import { toProblem } from '../../http/problem.ts'
import type { HttpReply } from '../../http/reply.ts'
import type { HttpRequestContext } from '../../http/route.ts'
import type { ServerServices } from '../../runtime/services.ts'

export type OpenAiHandler = (
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
) => Promise<HttpReply>

export const toSeconds = (at: number): number => Math.floor(at / 1000)

/** Statuses that the official clients take as leave to send the request once more, which would start another run. */
const REPEATED = new Set([408, 409])

export function toOpenAiProblem(
  { log, redactor }: ServerServices,
  call: HttpRequestContext,
  error: unknown,
): HttpReply {
  if (!isFailure(error))
    log.write('error', 'request failed', {
      requestId: call.requestId,
      path: call.url.pathname,
      detail: detailOf(error),
    })
  const problem = toProblem(error, call.requestId, redactor)
  return {
    ...problem,
    status: REPEATED.has(problem.status) ? 400 : problem.status,
    json: toOpenAiError(problem.json as ErrorBody, problem.status),
  }
}

function toOpenAiError({ error, code, fix, details = [] }: ErrorBody, status: number) {
  const places = details.map(({ path, message }) => `${path} ${message}`)
  const message = [error, ...places.filter((each) => !error.includes(each)), ...(fix === undefined ? [] : [fix])].join(
    ' ',
  )
  return { error: { message, type: errorTypeOf(status), param: details[0]?.path.replace(/^\//, '') ?? null, code } }
}

function errorTypeOf(status: number): string {
  if (status >= 500) return 'server_error'
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error'
}

/** A run that failed is no failure of the server, which a client would ask again. */
export const failedRunReply = (code: string, message: string): HttpReply => ({
  status: 422,
  json: { error: { message, type: 'run_failed', param: null, code } },
})
