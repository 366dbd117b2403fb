/**
 * The two halves of a console session. The browser sends the cookie to every web server of the same host name, whatever its port;
 * so it contains only the hash of the second half, which the page keeps for its own origin and sends in a header.
 * Source: docs/design/console.md#signing-in
 */
import { timingSafeEqual } from 'node:crypto'
import { createApiKeySecret, hashKey } from '../../base/api-key.ts'
import { PAGE_KEY_HEADER } from '../../operations/headers.ts'
import type { HttpRequestContext } from '../http/route.ts'
import { IDLE_MS } from '../operator/people/identify.ts'

/**
 * Browsers accept the prefix `__Host-` with `Secure` only, so without TLS the cookie has another name. That one contains the
 * port: cookies ignore it, and two servers on one machine would otherwise sign each other out.
 */
function nameOf(call: Pick<HttpRequestContext, 'request'>, secure: boolean, use: CookieUse = 'console'): string {
  const port = /:(\d+)$/.exec(call.request.headers.get('host') ?? '')?.[1] ?? '80'
  if (use === 'console') return secure ? '__Host-svc' : `svc-console-${port}`
  return secure ? '__Host-svc-sign-in' : `svc-sign-in-${port}`
}

/** A session, or a sign-in at an identity provider that was begun. */
type CookieUse = 'console' | 'sign-in'

export const readBegunCookie = (call: Pick<HttpRequestContext, 'request'>, secure: boolean): string | undefined =>
  readSessionCookie(call, secure, 'sign-in')

/** @returns the header of a cookie that comes back with a browser that another site sends here, as a provider does */
export const writeBegunCookie = (
  call: Pick<HttpRequestContext, 'request'>,
  secure: boolean,
  value: string,
  maxAgeMs: number,
): string =>
  [
    `${nameOf(call, secure, 'sign-in')}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    `Max-Age=${maxAgeMs / 1000}`,
    ...(secure ? ['Secure'] : []),
  ].join('; ')

export function readSessionCookie(
  call: Pick<HttpRequestContext, 'request'>,
  secure: boolean,
  use?: CookieUse,
): string | undefined {
  const name = nameOf(call, secure, use)
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
  lastsMs = IDLE_MS,
): string {
  const maxAge = value === undefined ? 0 : Math.floor(lastsMs / 1000)
  const parts = [`${nameOf(call, secure)}=${value ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAge}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}
