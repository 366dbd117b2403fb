/**
 * Rules for outgoing requests. Addresses from an author's document: https only, except http to this machine; no host name that
 * resolves into a private network, checked at every resolution; no redirect to another host. Addresses from the operator's
 * configuration may be anywhere. Neither may reach the listeners of the servers of the store: an agent could answer its own approvals there.
 * Source: docs/design/security.md#what-leaves
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isLocalhostName, isLoopback } from './loopback.ts'
import { isCompatibleAddress, type OwnListeners } from './own-listeners.ts'
import { createTransport, EGRESS_REFUSED, UnsentError, type FetchFunction } from './transport.ts'

export interface EgressOptions {
  /** Who wrote the addresses: the author of a document, or the operator in the configuration. */
  readonly from: 'document' | 'config'
  /**
   * Hosts whose addresses may be private, and `host:port` of listeners of ours that may be reached after all:
   * `network.allowed_hosts` of the project config.
   */
  readonly allowedHosts: readonly string[]
  /** True where allowed hosts may be reached without TLS. */
  readonly plain?: boolean
  readonly ownListeners?: OwnListeners
  /** Reuses connections; only for requests that may be repeated. */
  readonly keepAlive?: boolean
  /** See `TransportOptions`. */
  readonly idleMs?: number
  readonly plainBodies?: boolean
  /** Resolves a name to all its addresses; the system's by default. */
  readonly resolve?: Resolve
}

type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Redirects followed on one host before the request fails as a redirect loop. */
const MAX_REDIRECTS = 3

/** Its requests fail with an UnsentError of code `EGRESS_REFUSED` for an address that may not be used. */
export function createEgress({
  from,
  allowedHosts,
  plain = false,
  ownListeners,
  keepAlive = false,
  idleMs,
  plainBodies = false,
  resolve = (hostname, done) => systemLookup(hostname, { all: true }, done),
}: EgressOptions): FetchFunction {
  const isAllowed = (host: string): boolean => from === 'config' || allowedHosts.includes(host)
  const isOwn = (url: URL): boolean =>
    ownListeners?.hasPort(portOf(url)) === true && !allowedHosts.includes(`${hostOf(url)}:${url.port}`)

  const whyNot = (hostname: string, address: string): string | undefined => {
    if (isLocalhostName(hostname) && from === 'document')
      return isLoopback(address) ? undefined : `${hostname} leads to ${address}, which is not this machine`
    return isAllowed(hostname) || isPublic(address) ? undefined : `${hostname} leads to the private address ${address}`
  }
  const whyNotOwn = (hostname: string, address: string): string | undefined =>
    ownListeners?.isAt(address) ? `${hostname} is an address of this server` : whyNot(hostname, address)

  const kept = { keepAlive, plainBodies, ...(idleMs !== undefined && { idleMs }) }
  const open = createTransport({ ...kept, lookup: checked(resolve, whyNot) })
  /** For our own ports: refuses names that resolve to our own addresses. */
  const away = createTransport({ ...kept, lookup: checked(resolve, whyNotOwn) })

  const check = (url: URL): void => {
    const host = hostOf(url)
    const isAddress = ipaddr.isValid(host)
    if (isOwn(url) && isAddress && ownListeners?.isAt(host)) throw refusal(`${url.host} is an address of this server`)
    if (from === 'config') return
    const isPlain = isLoopback(host) || (plain && isAllowed(host))
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPlain))
      throw refusal(`${url.origin} is not https, which all hosts but those of this machine need`)
    if (isAddress && !isLoopback(host) && !isPublic(host) && !isAllowed(host))
      throw refusal(`${host} is a private address`)
  }

  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input)
    for (let hops = 0; ; hops++) {
      check(url)
      const response = await (isOwn(url) ? away : open)(url, init)
      const location = response.headers.get('location')
      // Only these two keep the method and the body.
      const isFollowed = from === 'document' && (response.status === 307 || response.status === 308)
      if (!isFollowed || location === null || hops === MAX_REDIRECTS) return response
      const next = new URL(location, url)
      if (next.host !== url.host || next.protocol !== url.protocol) return response
      await response.body?.cancel()
      url = next
    }
  }
}

/** Checks all addresses and connects to one of exactly these, so that a second DNS answer (rebinding) has no effect. */
const checked =
  (resolve: Resolve, whyNot: (hostname: string, address: string) => string | undefined): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      const why = error ? undefined : addresses.map(({ address }) => whyNot(hostname, address)).find(Boolean)
      if (error) done(error, '')
      else if (why !== undefined) done(refusal(why), '')
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })

const refusal = (what: string): UnsentError =>
  new UnsentError(`${what}; network.allowed_hosts in svc.config.yaml can allow it.`, EGRESS_REFUSED, undefined)

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** Whether an address is on the public internet. IPv4 embedded in IPv6, in any form, is judged as the IPv4 address. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast' && !isCompatibleAddress(parsed)
}
