/** Who may change whose signature counts. Source: docs/design/trust.md#installing */
import type { Instant } from '../../base/clock.ts'
import { readEnvelope } from './dsse.ts'
import { readStatement } from './statement.ts'
import { keyOwnerOf, type TrustDocument, type TrustKey } from './trust-document.ts'
import { TrustProblem } from './trust-problem.ts'
import { findLapse, signersOf } from './verify-signed.ts'

/**
 * Checks that a trust document counts: enough of its own roots signed it, and enough of those of the document that it replaces.
 * @param before the document in force; undefined for the first
 * @throws TrustProblem
 */
export function openTrust(text: string, before: TrustDocument | undefined, at: Instant): TrustDocument {
  const envelope = readEnvelope(text)
  // A document says itself whose signature counts, so it is read first; what it says is not believed before it is checked.
  const trust = readStatement(envelope.payload, 'trust')
  if (before) refuseOlder(trust, before)
  // The keys of roots that left are only in the document before.
  const keys = [
    ...trust.keys,
    ...(before?.keys ?? []).filter((old) => !trust.keys.some((each) => isSameKey(each, old))),
  ]
  const signers = signersOf(envelope, { keys }, at)
  refuseBelowThreshold(trust, signers, at)
  if (before) refuseBelowThreshold(before, signers, at)
  return trust
}

/** One set of roots may sign documents of several servers, which must not be taken for each other. */
function refuseOlder({ name, version }: TrustDocument, before: TrustDocument): void {
  if (name !== before.name) throw new TrustProblem('statement', `it is ${name}, and ${before.name} is installed`)
  if (version <= before.version)
    throw new TrustProblem('statement', `its version ${version} is not above ${before.version}, which is installed`)
}

const isSameKey = (one: TrustKey, other: TrustKey): boolean => one.fingerprint === other.fingerprint

function refuseBelowThreshold(trust: TrustDocument, signers: readonly TrustKey[], at: Instant): void {
  const { roots, keys, name, version } = trust
  const signed = roots.keys.filter((id) => {
    const root = keys.find((each) => each.id === id)
    return root !== undefined && findLapse(root, at) === undefined && signers.some((each) => isSameKey(each, root))
  })
  const people = new Set(signed.map((id) => keyOwnerOf(trust, id)))
  if (people.size < roots.threshold)
    throw new TrustProblem(
      'grant',
      `${people.size} of the ${roots.threshold} roots that ${name}@${version} asks for signed it`,
    )
}
