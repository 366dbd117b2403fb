import { fail } from '../../base/failure.ts'
import { readOpenApi } from '../openapi.ts'
import { ok } from '../reply.ts'
import type { Handler } from '../route.ts'
import type { Services } from '../services.ts'

/** GET /v1/openapi.json (extension): the document of this interface; no key needed. */
export const getOpenApi = (): Handler => async () => ok(await readOpenApi())

/** GET /v1/healthz (extension): 200 while requests are taken, 503 while not; no key needed. */
export const getHealth =
  ({ about }: Services): Handler =>
  () => {
    if (about.closing) throw fail('shutting_down')
    return ok({ status: 'ready' })
  }
