import { fail } from '../../base/failure.ts'
import { readOpenApi } from '../http/openapi.ts'
import { okReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

/** GET /v1/openapi.json (extension): the document of this interface; no key needed. */
export const getOpenApi = (): RouteHandler => async () => okReply(await readOpenApi())

/** GET /v1/healthz (extension): 200 while requests are accepted, else 503; no key needed. */
export const getHealth =
  ({ serverState: about }: ServerServices): RouteHandler =>
  () => {
    if (about.closing) throw fail('shutting_down')
    return okReply({ status: 'ready' })
  }
