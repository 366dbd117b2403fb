/**
 * The table of failures that callers expect, one entry per code: HTTP status, exit code of the command line, the sentence,
 * the remedy. The server's answers, the CLI's error messages and the reference page come from here.
 */
import { accessFailures } from './failures/access.ts'
import { answerFailures } from './failures/answers.ts'
import { commandLineFailures } from './failures/command-line.ts'
import { documentFailures } from './failures/documents.ts'
import type { FailureRow } from './failures/failure-row.ts'
import { runFailures } from './failures/runs.ts'
import { storeFailures } from './failures/store.ts'

export const failures = {
  ...accessFailures,
  ...runFailures,
  ...answerFailures,
  ...storeFailures,
  ...documentFailures,
  ...commandLineFailures,
}

export type FailureCode = keyof typeof failures
type FailureDetails<C extends FailureCode> = Parameters<(typeof failures)[C]['message']>[0]

/** One place of a bad request: a JSON pointer into it and what is wrong there. */
export interface InvalidPlace {
  readonly path: string
  readonly message: string
}

export interface FailureExtras {
  readonly details?: readonly InvalidPlace[]
  readonly retryAfterSeconds?: number
  /** Further response headers, for example `Allow`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Another remedy than the table's. */
  readonly fix?: string | undefined
  readonly cause?: unknown
}

/** A failure its caller expects; everything else that is thrown is a bug. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly extras: FailureExtras
  constructor(code: FailureCode, message: string, extras: FailureExtras) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.extras = extras
  }
  get status(): number {
    return (failures[this.code] as FailureRow).status ?? 500
  }
  get exit(): number {
    return failures[this.code].exit
  }
  get fix(): string | undefined {
    return this.extras.fix ?? (failures[this.code] as FailureRow).fix
  }
}

/** `throw fail('not_found', { what: 'run' })`: a misspelt code or detail does not compile. */
export function fail<C extends FailureCode>(
  code: C,
  ...[about, extras]: FailureDetails<C> extends undefined
    ? [about?: undefined, extras?: FailureExtras]
    : [about: FailureDetails<C>, extras?: FailureExtras]
): Failure {
  const message = failures[code].message as (about: unknown) => string
  return new Failure(code, message(about), extras ?? {})
}

export const isFailure = (error: unknown, code?: FailureCode): error is Failure =>
  error instanceof Failure && (code === undefined || error.code === code)

/** The message of the innermost cause of an error, at most eight levels down; the errors around it only say that something failed. */
export function innermostMessage(error: unknown): string {
  let innermost = error
  for (let depth = 0; depth < 8 && innermost instanceof Error; depth++) {
    if (!(innermost.cause instanceof Error) || innermost.cause.message === '') break
    innermost = innermost.cause
  }
  return innermost instanceof Error ? innermost.message : String(innermost)
}
