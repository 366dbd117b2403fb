/**
 * The way out for addresses that an author's document names. https only, http for this machine alone; a name must not lead into
 * a private network, however often it is resolved; no redirect to another host. Source: security, S14; decisions, section 14.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createTransport, UnsentError, type Fetch } from '../base/transport.ts'

export interface EgressOptions {
  /** Hosts whose addresses may be private: `network.allowed_hosts` of the project config. */
  readonly allowedHosts: readonly string[]
  /** Resolves a name to all its addresses; the system's by default. */
  readonly resolve?: (
    hostname: string,
    done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  ) => void
}

/** Redirects followed on one host before the server is taken to go in circles. */
const MAX_REDIRECTS = 3

/** Its requests fail with an UnsentError for an address that may not be used. */
export function createEgress({
  allowedHosts,
  resolve = (hostname, done) => systemLookup(hostname, { all: true }, done),
}: EgressOptions): Fetch {
  const isAllowed = (host: string): boolean => allowedHosts.includes(host)
  const lookup: LookupFunction = (hostname, options, done) =>
    resolve(hostname, (error, addresses) => {
      const refused =
        isAllowed(hostname) || isLocalName(hostname) ? undefined : addresses?.find(({ address }) => !isPublic(address))
      if (error) done(error, '')
      // All are checked and one of exactly these is connected to, so that a second answer changes nothing.
      else if (refused) done(refusal(`${hostname} leads to the private address ${refused.address}`), '')
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })
  const transport = createTransport({ keepAlive: false, lookup })

  const check = (url: URL): void => {
    const host = hostOf(url)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(host)))
      throw refusal(`${url.origin} is not https, which all hosts but those of this machine need`)
    if (ipaddr.isValid(host) && !isLoopback(host) && !isPublic(host) && !isAllowed(host))
      throw refusal(`${host} is a private address`)
  }

  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input)
    for (let hops = 0; ; hops++) {
      check(url)
      const response = await transport(url, init)
      const location = response.headers.get('location')
      // Only these two keep the method and the body.
      if ((response.status !== 307 && response.status !== 308) || location === null || hops === MAX_REDIRECTS)
        return response
      const next = new URL(location, url)
      if (next.host !== url.host || next.protocol !== url.protocol) return response
      await response.body?.cancel()
      url = next
    }
  }
}

const refusal = (what: string): UnsentError =>
  new UnsentError(`${what}; network.allowed_hosts in svc.config.yaml can allow it.`, 'ERR_EGRESS_REFUSED', undefined)

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')
const isLoopback = (host: string): boolean =>
  isLocalName(host) || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')

/** Whether an address is one of the open internet. IPv4 inside IPv6, in any of its forms, counts as what it stands for. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  // `::a.b.c.d`, long out of use but still understood by some systems.
  return !(parsed instanceof ipaddr.IPv6 && parsed.parts.slice(0, 6).every((part) => part === 0))
}
