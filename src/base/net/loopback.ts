/** The one test of whether a host is this machine. Source: docs/design/security.md#requests */
import ipaddr from 'ipaddr.js'

/**
 * True for `localhost`, names below it, and the addresses 127.0.0.0/8 and ::1. An IPv6 address may stand in brackets, as in a
 * URL or a Host header; IPv4 inside IPv6 (`::ffff:127.0.0.1`) counts as IPv4. Other spellings of an address, such as
 * `2130706433` or `127.1`, are names that a resolver may answer, and so are not loopback.
 * @param host a name or an address without port, in any case
 */
export function isLoopback(host: string): boolean {
  if (isLocalhostName(host)) return true
  const bracketed = /^\[(.*)\]$/.exec(host)?.[1]
  const address = bracketed ?? host
  if (!ipaddr.IPv6.isValid(address) && (bracketed !== undefined || !ipaddr.IPv4.isValidFourPartDecimal(address)))
    return false
  return ipaddr.process(address).range() === 'loopback'
}

/** `localhost` and names below it, which the system resolves to this machine (RFC 6761). */
export const isLocalhostName = (host: string): boolean => /^(?:.+\.)?localhost$/i.test(host)
