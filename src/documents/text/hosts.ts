/** What can be said about an address without asking anybody. */
import ipaddr from 'ipaddr.js'
import { isLoopback } from '../../base/loopback.ts'

export const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

/** An address of a private network, of this link, or of a cloud's metadata service; names are nobody's address. */
export function isInternal(host: string): boolean {
  if (isLoopback(host)) return false
  if (/^metadata(?:\.google\.internal)?$/.test(host)) return true
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() !== 'unicast'
}
