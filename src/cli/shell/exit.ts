/** Turns every failure into the exit code and the error message of a command. */
import { failures, isFailure, type FailureCode } from '../../base/failure.ts'
import { fileFailure } from '../../base/files/file-error.ts'
import { SvcConnectionError, SvcError, SvcTimeoutError } from '../../client/index.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { Interrupted } from './io.ts'
import { RefusedAnswer, remoteError, RemoteError } from '../../client/remote-error.ts'

/** An error as it is printed: `{"error": …}` with `--json`, else as in section 1.7 of the command line. */
export interface CommandError {
  readonly exit: number
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
  readonly request?: string
  readonly status?: number
  readonly requestId?: string
}

/** Undefined for an unexpected error: a bug. */
export function describeCommandError(error: unknown): CommandError | undefined {
  if (error instanceof Interrupted)
    return { exit: error.signal === 'SIGINT' ? 130 : 143, code: 'interrupted', message: 'Interrupted.' }
  if (isFailure(error)) {
    const { details } = error.extras
    return {
      exit: error.exit,
      code: error.code,
      message: error.message,
      ...(error.fix !== undefined && { hint: error.fix }),
      ...(details !== undefined && { details }),
    }
  }
  const file = fileFailure(error)
  if (file) return describeCommandError(file)
  if (error instanceof RemoteError)
    return {
      exit: error.exit,
      code: error.code,
      message: error.message,
      ...(error.fix !== undefined && { hint: error.fix }),
      ...(error.details.length > 0 && { details: error.details }),
      request: `${error.request} → ${error.status}`,
      status: error.status,
      ...(error.requestId !== undefined && { requestId: error.requestId }),
    }
  if (error instanceof RefusedAnswer)
    return {
      exit: error.exit,
      code: error.code,
      message: error.message,
      ...(error.fix !== undefined && { hint: error.fix }),
    }
  if (error instanceof SvcError)
    return describeCommandError(remoteError(error.status, `${error.method} ${error.path}`, error.body))
  if (error instanceof SvcTimeoutError) return { exit: 9, code: 'timed_out', message: error.message }
  if (error instanceof SvcConnectionError)
    return { exit: 8, code: 'no_server', message: error.message, hint: failures.no_server.fix }
  return undefined
}

/** Exit code of the error code in a 202 body; 6 for one that is unknown. */
export const exitOfCode = (code: string | undefined): number =>
  code !== undefined && Object.hasOwn(failures, code) ? failures[code as FailureCode].exit : 6

/** One line with `--json`, else message, details, request and remedy. No line break at the end. */
export function formatCommandError(words: CommandError, json: boolean): string {
  const { exit: _, ...printed } = words
  if (json) return JSON.stringify({ error: printed })
  const lines = [`error[${words.code}]: ${safeText(words.message)}`]
  for (const each of words.details ?? [])
    lines.push(`  ${each.path === '' ? '' : `${safeText(each.path)}: `}${safeText(each.message)}`)
  if (words.request)
    lines.push(`  request  ${safeText(words.request)}${words.requestId ? `   ${words.requestId}` : ''}`)
  if (words.hint) lines.push(`  fix:  ${safeText(words.hint)}`)
  return lines.join('\n')
}
