/** Who needs nobody else to bring a change of an agent into force. Source: docs/design/trust.md#findings */
import type { Instant } from '../../base/clock.ts'
import { findUngranted } from './grants.ts'
import { keyOwnerOf, type TrustDocument } from './trust-document.ts'
import { findLapse } from './verify-signed.ts'

/**
 * People, and keys of nobody, that can publish and deploy an agent with their own signatures alone, also where it may do more than before.
 * @param id `namespace.name`
 */
export function findLoneReleasers(trust: TrustDocument, id: string, now: Instant): readonly string[] {
  const good = trust.keys.filter((key) => findLapse(key, now) === undefined)
  const isAlone = (owner: string, verb: 'publish' | 'deploy'): boolean => {
    const own = good.filter((key) => keyOwnerOf(trust, key.id) === owner)
    return findUngranted(trust, own, { verb, id, widens: true }) === undefined
  }
  const owners = [...new Set(good.map((key) => keyOwnerOf(trust, key.id)))]
  return owners.filter((owner) => isAlone(owner, 'publish') && isAlone(owner, 'deploy'))
}
