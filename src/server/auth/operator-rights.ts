/** What the groups of a provider let an operator do, by route. Source: docs/design/security.md#sign-in-for-teams */
import { fail, type Failure } from '../../base/failure.ts'
import { OPERATOR_RIGHTS, type OperatorRight } from '../../spec/project/config.ts'
import type { HttpRequestContext } from '../http/route.ts'

/** The first line that fits a request counts. A new route that changes something takes `operate`, unless it is named here. */
const NEEDED: readonly (readonly [line: RegExp, right: OperatorRight])[] = [
  [/^(?:GET|HEAD) /, 'read'],
  // They change nothing, and are asked by POST since what they are asked is long.
  [/^POST \/(?:lint|decide|what-if)$/, 'read'],
  [/^POST \/(?:v1\/)?runs\/[^/]+\/(?:messages|input)$/, 'approve'],
  [/^POST \/tasks\/[^/]+\/claim$/, 'approve'],
  // They belong to whoever asks.
  [/^POST \/passkeys(?:\/|$)/, 'approve'],
  [/^POST \/(?:operator-keys|trust|backup|console\/.*)$/, 'administer'],
  [/./, 'operate'],
]

const rightFor = (method: string, path: string): OperatorRight =>
  NEEDED.find(([line]) => line.test(`${method} ${path}`))?.[1] ?? 'administer'

/** @param may undefined for whom no provider named: nothing limits them */
export function findMissingRight(
  may: OperatorRight | undefined,
  { request, url }: Pick<HttpRequestContext, 'request' | 'url'>,
): Failure | undefined {
  if (may === undefined) return undefined
  const needed = rightFor(request.method, url.pathname)
  return OPERATOR_RIGHTS.indexOf(may) >= OPERATOR_RIGHTS.indexOf(needed)
    ? undefined
    : fail('not_permitted', { why: `Your groups let you ${may} here, and this takes the right to ${needed}.` })
}
