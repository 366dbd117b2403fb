import { Failure, isFailure } from '../../base/failure.ts'
import type { HttpRequestContext } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { AuthenticatedCaller, IdentifyCaller } from './auth.ts'

/** Clients of other protocols send the key as a bearer token. A refusal says so in the way that they know. */
export async function identifyBearer(
  services: ServerServices,
  identify: IdentifyCaller,
  call: HttpRequestContext,
): Promise<AuthenticatedCaller> {
  const [, token] = /^Bearer +(\S+)$/i.exec(call.request.headers.get('authorization') ?? '') ?? []
  try {
    if (token === undefined) return await identify(services, call)
    const headers = new Headers(call.request.headers)
    headers.set('x-api-key', token)
    return await identify(services, { ...call, request: new Request(call.request.url, { headers }) })
  } catch (error) {
    if (!isFailure(error) || error.status !== 401) throw error
    const headers = { ...error.extras.headers, 'www-authenticate': 'Bearer' }
    throw new Failure(error.code, error.message, { ...error.extras, headers, fix: 'Send an API key as bearer token.' })
  }
}
