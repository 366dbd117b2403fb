import { Failure, failures, type FailureCode } from '../base/failure.ts'
import type { ErrorBody, MessageAccepted } from '../spec/api.ts'

/** A request that a server refused, with the server's own message. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly status: number
  readonly code: string
  /** `POST /v1/agents/…/runs`. */
  readonly request: string
  readonly details: NonNullable<ErrorBody['details']>
  readonly requestId: string | undefined
  readonly #fix: string | undefined
  constructor(status: number, request: string, body: Partial<ErrorBody>) {
    super(body.error ?? `The server answered ${status}.`)
    this.status = status
    this.code = body.code ?? `http_${status}`
    this.request = request
    this.details = body.details ?? []
    this.requestId = body.requestId
    this.#fix = typeof body.fix === 'string' ? body.fix : undefined
  }
  /** Source: docs/design/command-line.md#exit-codes */
  get exit(): number {
    if (Object.hasOwn(failures, this.code)) return failures[this.code as FailureCode].exit
    return exitOfStatus(this.status)
  }
  /** The server's remedy, else that of the code. */
  get fix(): string | undefined {
    if (this.#fix !== undefined) return this.#fix
    return usualFix(this.code)
  }
}

const usualFix = (code: string): string | undefined =>
  Object.hasOwn(failures, code) ? new Failure(code as FailureCode, '', {}).fix : undefined

/** Reads the body of a failing response. Where it is no `ErrorBody`, only the status is reported. */
export function remoteError(status: number, request: string, text: string): RemoteError {
  let body: Partial<ErrorBody> = {}
  try {
    body = JSON.parse(text) as Partial<ErrorBody>
  } catch {
    // Not JSON: a proxy or another program answered.
  }
  return new RemoteError(status, request, typeof body === 'object' && body !== null ? body : {})
}

function exitOfStatus(status: number): number {
  if (status === 401 || status === 403) return 4
  if (status === 404) return 5
  if (status === 409) return 6
  if (status === 429) return 7
  return status >= 500 ? 8 : 2
}

/** A 202 whose body says that the answer was not accepted. */
export class RefusedAnswer extends Error {
  override readonly name = 'RefusedAnswer'
  readonly code: string
  readonly exit: number
  readonly fix: string | undefined
  /** @param fix the usual one of the code where none is given */
  constructor({ error, code }: MessageAccepted, exit: number, fix?: string) {
    super(error ?? 'The answer was not accepted.')
    this.code = code ?? 'conflict'
    this.exit = exit
    this.fix = fix ?? usualFix(this.code)
  }
}
