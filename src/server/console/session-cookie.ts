/** The cookie of a console session. Source: console, 4.1. */
import type { HttpRequestContext } from '../http/route.ts'

/** Unused for this long, a session is over. */
export const IDLE_MS = 12 * 3_600_000

/**
 * Browsers accept the prefix `__Host-` with `Secure` only, so without TLS the cookie has another name. That one contains the
 * port: cookies ignore it, and two servers on one machine would otherwise sign each other out.
 */
const nameOf = (call: Pick<HttpRequestContext, 'request'>, secure: boolean): string =>
  secure ? '__Host-svc' : `svc-console-${/:(\d+)$/.exec(call.request.headers.get('host') ?? '')?.[1] ?? '80'}`

export function readSessionCookie(call: Pick<HttpRequestContext, 'request'>, secure: boolean): string | undefined {
  const name = nameOf(call, secure)
  const pairs = (call.request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** @param value undefined removes the cookie */
export function writeSessionCookie(
  call: Pick<HttpRequestContext, 'request'>,
  secure: boolean,
  value: string | undefined,
): string {
  const maxAge = value === undefined ? 0 : IDLE_MS / 1000
  const parts = [`${nameOf(call, secure)}=${value ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAge}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}
