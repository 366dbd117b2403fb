/**
 * Where the servers of one store listen: this process and the others. Tools and models must reach none of them, since an agent
 * could answer its own approvals at any. Source: docs/design/security.md#what-leaves
 */
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { isLoopback } from './loopback.ts'

export interface OwnListeners {
  /** True if some listener of ours has this port. */
  hasPort(port: number): boolean
  /** True for an address of this machine, or at which another process listens. */
  isAt(address: string): boolean
}

/** Ports and addresses of a process. Loopback addresses are left out: everybody has them. */
export interface ListenerReport {
  readonly ports: readonly number[]
  readonly addresses: readonly string[]
}

export interface ListenerRegister extends OwnListeners {
  /** @param host the address that the listener is bound to */
  add(host: string, port: number): void
  /** Those of this process. */
  report(): ListenerReport
  /** Replaces those of the other processes. */
  setOthers(others: ListenerReport): void
}

/** More interfaces than a server has; bounds what is stored of a machine with many. */
const MOST_ADDRESSES = 32

export function createOwnListeners(): ListenerRegister {
  const own = { ports: new Set<number>(), addresses: new Set<string>() }
  let others = { ports: new Set<number>(), addresses: new Set<string>() }
  return {
    hasPort: (port) => own.ports.has(port) || others.ports.has(port),
    isAt: (address) => isHere(address) || others.addresses.has(normalized(address) ?? ''),
    add(host, port) {
      own.ports.add(port)
      const bound = isUnspecified(host) ? outsideAddresses() : [host]
      for (const address of bound)
        if (!isLoopback(address) && own.addresses.size < MOST_ADDRESSES)
          own.addresses.add(normalized(address) ?? address)
    },
    report: () => ({ ports: [...own.ports], addresses: [...own.addresses] }),
    setOthers({ ports, addresses }) {
      others = { ports: new Set(ports), addresses: new Set(addresses) }
    },
  }
}

/** Whether an address belongs to this machine: loopback, unspecified (treated as loopback), or one of its interfaces. */
function isHere(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const given = ipaddr.process(address)
  if (given.range() === 'loopback' || given.range() === 'unspecified' || isCompatibleAddress(given)) return true
  const text = given.toNormalizedString()
  return cards().some((card) => normalized(card) === text)
}

/** `::a.b.c.d`, long out of use but still understood by some systems. */
export const isCompatibleAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address instanceof ipaddr.IPv6 && address.parts.slice(0, 6).every((part) => part === 0)

const isUnspecified = (host: string): boolean => ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified'

const cards = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address))

const outsideAddresses = (): readonly string[] => cards().filter((address) => !isLoopback(address))

/** One spelling of an address; undefined for a name. */
const normalized = (address: string): string | undefined =>
  ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : undefined
