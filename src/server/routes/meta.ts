import { readOpenApi } from '../http/openapi.ts'
import { okReply } from '../http/reply.ts'
import type { RouteHandler } from '../http/route.ts'

/** GET /v1/openapi.json (extension): the document of this interface; no key needed. */
export const getOpenApi = (): RouteHandler => async () => okReply(await readOpenApi())

/** GET /v1/healthz (extension): 200 while the process is alive, even without its database; no key needed. */
export const getHealth = (): RouteHandler => () => okReply({ status: 'ready' })
