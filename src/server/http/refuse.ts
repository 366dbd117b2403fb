import { fail, type Failure, type InvalidPlace } from '../../base/failure.ts'

/** Throws if there are findings, with the first one in the message. @throws Failure `validation_failed` */
export function throwFindings(problems: readonly InvalidPlace[], what: string): void {
  const first = problems[0]
  if (!first) return
  throw fail(
    'validation_failed',
    { what: `${what}: ${first.path === '' ? '' : `${first.path} `}${first.message}.` },
    { details: problems },
  )
}

/** A parameter of a query that only its route can check. */
export const queryFailure = (path: string, message: string): Failure =>
  fail('validation_failed', { what: `The query is not valid: ${path} ${message}.` }, { details: [{ path, message }] })
