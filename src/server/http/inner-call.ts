import type { HttpRequestContext } from './route.ts'

/**
 * A call of a route by another one, with the caller's connection: what ends the one ends the other.
 * @param given of a POST
 */
export function innerCall(
  call: HttpRequestContext,
  params: Readonly<Record<string, string>>,
  given?: { readonly headers?: Readonly<Record<string, string>>; readonly body: string },
  headers: Readonly<Record<string, string>> = {},
): HttpRequestContext {
  const request = new Request('http://inner.svc/', {
    headers: { 'content-type': 'application/json', ...headers, ...given?.headers },
    signal: call.request.signal,
    ...(given && { method: 'POST', body: given.body }),
  })
  return { ...call, params, request, incoming: undefined }
}
