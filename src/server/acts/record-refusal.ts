/** Which failures of a request are refused acts. Source: docs/design/audit.md#refusals */
import { isFailure } from '../../base/failure.ts'
import { ACTS_BY_KIND, type ActKind, type MakeAct } from '../../spec/people/act.ts'
import type { HttpRequestContext } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

/** Somebody may not, or not now. A request that is not understood, or names nothing, is no act. */
const REFUSED = new Set([401, 403, 409, 429])

/** The kind of act that a route writes, of several the first; undefined where it writes none. */
export const firstActOf = (route: string): ActKind | undefined =>
  (Object.entries(ACTS_BY_KIND) as readonly [ActKind, { readonly routes: readonly string[] }][]).find(
    ([, { routes }]) => routes.includes(route),
  )?.[0]

/** Records the failure of a request, if it refused an act. */
export async function recordRefusal(
  { refusedActs }: Pick<ServerServices, 'refusedActs'>,
  kind: ActKind,
  { request, url }: Pick<HttpRequestContext, 'request' | 'url'>,
  error: unknown,
  act: MakeAct,
): Promise<void> {
  if (!isFailure(error) || !REFUSED.has(error.status)) return
  await refusedActs.record(act(kind, { subject: `${request.method} ${url.pathname}`, refused: error.code }))
}
