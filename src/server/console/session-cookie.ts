/**
 * The two halves of a console session. The browser sends the cookie to every web server of the same host name, whatever its port;
 * so it contains only the hash of the second half, which the page keeps for its own origin and sends in a header.
 * Source: docs/design/console.md#signing-in
 */
import { timingSafeEqual } from 'node:crypto'
import { createApiKeySecret, hashKey } from '../../base/api-key.ts'
import { PAGE_KEY_HEADER } from '../../operations/headers.ts'
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

const newSecret = (): string => createApiKeySecret().slice('svc_'.length)

/** The halves of a new session: the cookie names the hash of the page's half, and so proves it without containing it. */
export function createSessionHalves(): { readonly cookie: string; readonly pageKey: string } {
  const pageKey = newSecret()
  return { cookie: `${newSecret()}.${hashKey(pageKey)}`, pageKey }
}

/** True where the request carries the page's half beside the cookie. */
export function hasPageKey(call: Pick<HttpRequestContext, 'request'>, secure: boolean): boolean {
  const named = readSessionCookie(call, secure)?.split('.')[1] ?? ''
  const given = hashKey(call.request.headers.get(PAGE_KEY_HEADER) ?? '')
  return named.length === given.length && timingSafeEqual(Buffer.from(named), Buffer.from(given))
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
