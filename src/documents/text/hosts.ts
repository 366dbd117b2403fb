/** Classifies the host of a URL without a DNS lookup. */
import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../base/net/loopback.ts'

/** True for an address of a private network, link-local or of a metadata service; false for names. */
export function isInternal(host: string): boolean {
  if (isLoopback(host)) return false
  if (/^metadata(?:\.google\.internal)?$/.test(host)) return true
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() !== 'unicast'
}
