/**
 * Checks `Host` and `Origin`. The first stops DNS rebinding (a site that resolves its own name to this machine), the second
 * requests from pages of other sites.
 * Source: docs/design/security.md#requests
 */
import { fail, failures } from '../../base/failure.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import type { HttpRequestContext } from './route.ts'

export interface HostRules {
  /** True if the listener is bound to a loopback address: then a Host must be a loopback name or one of `hosts`. */
  readonly loopback: boolean
  /** Additional host names, without port. */
  readonly hosts: readonly string[]
  /** Allowed origins, for example `https://desk.example`. */
  readonly origins: readonly string[]
}

/** @throws Failure `host_not_allowed`, `origin_not_allowed` */
export const checkHost = (rules: HostRules, call: Pick<HttpRequestContext, 'request'>): void =>
  createHostCheck(rules)(call)

/** `checkHost` for the requests of one listener: it remembers the Host that was allowed last, which nearly all of them name. */
export function createHostCheck({
  loopback,
  hosts,
  origins,
}: HostRules): (call: Pick<HttpRequestContext, 'request'>) => void {
  let lastAllowed: string | undefined
  return ({ request }) => {
    const host = request.headers.get('host') ?? undefined
    if (loopback && (host === undefined || host !== lastAllowed)) {
      if (!isAllowed(host, hosts)) throw fail('host_not_allowed', undefined, { fix: failures.host_not_allowed.fix })
      lastAllowed = host
    }
    const origin = request.headers.get('origin')
    if (origin !== null && !origins.includes(origin)) throw fail('origin_not_allowed')
  }
}

const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]@/\s]+)(?::\d{1,5})?$/i

/** The name or address in a Host header, without port; undefined when it has none. */
export const nameInHost = (host: string | null | undefined): string | undefined =>
  HOST.exec(host ?? '')?.[1]?.toLowerCase()

function isAllowed(host: string | undefined, hosts: readonly string[]): boolean {
  const name = nameInHost(host)
  if (name === undefined) return false
  return isLoopback(name) || hosts.some((each) => each.toLowerCase() === name)
}
