/**
 * Checks every request to the operator listener first: its Host, its origin, and HTTPS if the listener is reachable from
 * other machines. Source: docs/design/console.md#what-the-page-may-do
 */
import type { IncomingMessage } from 'node:http'
import { fail } from '../../base/failure.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import { parseUrl } from '../../base/net/parse-url.ts'
import { DECISION_PATH } from '../../view/console-address.ts'
import { OPERATOR_KEY_HEADER } from '../../operations/headers.ts'
import { checkHost, nameInHost } from '../http/hosts.ts'
import { isInRanges } from '../http/ip.ts'
import type { HttpRequestContext } from '../http/route.ts'

/** How the operator listener is reached. */
export interface ListenerRules {
  /** True if it is bound to a loopback address. */
  readonly loopback: boolean
  /** Additional host names, without port. */
  readonly hosts: readonly string[]
  /** Addresses of proxies, which terminate TLS and set `X-Forwarded-Proto`. */
  readonly proxies: readonly string[]
}

/** The page sends it with every request; a form or a link of another site cannot. */
export const CONSOLE_HEADER = 'x-svc-console'

type ConsoleRequest = Pick<HttpRequestContext, 'request' | 'peer'>

/** True where the browser spoke HTTPS to the proxy before us. */
export const isSecure = ({ proxies }: ListenerRules, { request, peer }: ConsoleRequest): boolean =>
  isInRanges(peer, proxies) && isForwardedHttps(request.headers.get('x-forwarded-proto'))

/** Each of several proxies may add what it was asked with: the first is what the browser spoke. */
const isForwardedHttps = (protocols: string | null | undefined): boolean =>
  protocols?.split(',')[0]?.trim().toLowerCase() === 'https'

/** The origin that a browser names, which leaves out the usual port. Some proxies send it in `Host`. */
export function originOfRequest(rules: ListenerRules, call: ConsoleRequest): string {
  const own = `${isSecure(rules, call) ? 'https' : 'http'}://${call.request.headers.get('host')}`
  return parseUrl(own)?.origin ?? own
}

/** True for a browser on this machine that connects without a proxy. */
export const isLocal = (rules: ListenerRules, { request }: ConsoleRequest): boolean =>
  rules.loopback && isLoopback(nameInHost(request.headers.get('host')) ?? '')

/** False for a browser on another machine that speaks plain HTTP: it gets no page. */
export function isReachedSafely(rules: ListenerRules, { headers, socket }: IncomingMessage): boolean {
  const forwarded = String(headers['x-forwarded-proto'] ?? '')
  const isTls = isInRanges(socket.remoteAddress ?? '', rules.proxies) && isForwardedHttps(forwarded)
  return isTls || (rules.loopback && isLoopback(nameInHost(headers.host ?? null) ?? ''))
}

/** @throws Failure `host_not_allowed`, `origin_not_allowed`, `tls_required`, `console_header_missing` */
export function checkConsoleRequest(rules: ListenerRules, call: ConsoleRequest): void {
  const { request } = call
  const secure = isSecure(rules, call)
  const own = originOfRequest(rules, call)
  checkHost({ loopback: rules.loopback, hosts: rules.hosts, origins: [own] }, call)
  if (!secure && !isLocal(rules, call)) throw fail('tls_required')
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (new URL(request.url).pathname.startsWith(DECISION_PATH)) {
    // A form can send no header; its origin and the seal of its page stand for it.
    if (request.headers.get('origin') !== own) throw fail('origin_not_allowed')
    return
  }
  // A browser adds a cookie by itself, but never a credential in a header.
  if (request.headers.has(OPERATOR_KEY_HEADER)) return
  if (request.headers.get(CONSOLE_HEADER) !== '1' || request.headers.get('origin') !== own)
    throw fail('console_header_missing')
}
