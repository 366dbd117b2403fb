/** Addresses and the ranges that a trigger allows. Source: docs/design/security.md#keys */
import ipaddr from 'ipaddr.js'
import { textBefore } from '../../base/text/text-parts.ts'

/** True for an address or a CIDR, IPv4 or IPv6. */
export const isIpRange = (text: string): boolean => rangeOf(text) !== undefined

/** True when one of the ranges holds the address. IPv4 inside IPv6 (`::ffff:…`) counts as IPv4. */
export function isInRanges(address: string | undefined, ranges: readonly string[]): boolean {
  if (address === undefined || !isAddress(address)) return false
  const given = ipaddr.process(address)
  return ranges.some((text) => {
    const range = rangeOf(text)
    return range !== undefined && range[0].kind() === given.kind() && given.match(range as never)
  })
}

/**
 * Address of the client. Forwarded addresses count only behind a configured proxy; the rightmost one that is not a proxy
 * itself wins, since a client may write anything to its left.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | null,
  proxies: readonly string[],
): string | undefined {
  if (forwardedFor === null || !isInRanges(peer, proxies)) return peer
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()))
  return hops.findLast((hop) => !isInRanges(hop, proxies)) ?? hops[0]
}

/** Some proxies add the port of the client, with which each connection would be another client. */
const withoutPort = (hop: string): string =>
  /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop

/** Dotted quads and IPv6; parsers disagree about shorter, octal and hexadecimal spellings of IPv4. */
const isAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function rangeOf(text: string): Range | undefined {
  if (!isAddress(textBefore(text, '/'))) return undefined
  try {
    if (text.includes('/')) {
      const [address, bits] = ipaddr.parseCIDR(text)
      // `::ffff:10.0.0.0/104` is written for what `process` shows as 10.0.0.0/8.
      if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
        return [(address as ipaddr.IPv6).toIPv4Address(), bits - 96]
      return [address, bits]
    }
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return undefined
  }
}
