/** Checks what is signed without a server, or what a server has. Source: docs/design/trust.md#verifying */
import type { Instant } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { isFailure } from '../../base/failure.ts'
import { readArchive, writeArchive, type ReadArchive } from '../../compile/package/archive.ts'
import type { AttestationView } from '../../operations/trust.ts'
import { digestOfSet } from '../../policy/policy-set.ts'
import { digestOfDocument, digestOfSnapshot } from '../../spec/snapshot.ts'
import type { PublicationStatement, StatedMember } from '../../spec/trust/statement.ts'
import { keyOwnerOf, type TrustDocument, type TrustKey } from '../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../spec/trust/trust-problem.ts'
import { openPublication, openSigned, refuseOtherContent, refuseUngranted } from '../../spec/trust/verify-signed.ts'
import type { OperatorClient } from '../../client/operator.ts'

export interface VerifiedSubject {
  /** `namespace.name@version`. */
  readonly name: string
  readonly closure: Digest
  /** People, and keys that belong to nobody. */
  readonly signers: readonly string[]
}

/** On the archive alone. @param at whether keys are good is asked for this time @throws TrustProblem */
export async function verifySignedArchive(
  bytes: Uint8Array,
  trust: TrustDocument,
  at: Instant,
): Promise<VerifiedSubject> {
  const archive = await openExact(bytes)
  const known = archive.attestations.map((envelope) => ({ envelope, at }))
  const { statements, signers } = openPublication(known, trust)
  refuseUngrantedPublication(trust, statements, signers)
  refuseOtherContent(statements, { manifest: archive.digest })
  return toSubject(trust, statements, signers)
}

/** Only the bytes that svc itself writes for these files: nothing can hide in what readers of tar and gzip pass over. */
async function openExact(bytes: Uint8Array): Promise<ReadArchive> {
  try {
    const archive = await readArchive(bytes)
    const { bytes: expected } = await writeArchive(archive)
    if (!Buffer.from(expected).equals(Buffer.from(bytes)))
      throw new TrustProblem('archive', 'it is not written as svc writes archives')
    return archive
  } catch (error) {
    if (isFailure(error, 'bundle_invalid')) throw new TrustProblem('archive', error.message.replace(/\.$/, ''))
    throw error
  }
}

function refuseUngrantedPublication(
  trust: TrustDocument,
  statements: readonly PublicationStatement[],
  signers: readonly TrustKey[],
): void {
  const widens = statements.some((each) => each.widens)
  for (const { members } of statements) {
    const own = members.filter(({ isKnown }) => !isKnown).map(({ id }) => id)
    refuseUngranted(trust, signers, 'publish', own, widens)
  }
}

function toSubject(
  trust: TrustDocument,
  [statement]: readonly PublicationStatement[],
  signers: readonly TrustKey[],
): VerifiedSubject {
  if (statement === undefined) throw new TrustProblem('envelope', 'nobody signed it')
  const people = new Set(signers.map(({ id }) => keyOwnerOf(trust, id)))
  return { name: statement.name, closure: statement.closure, signers: [...people] }
}

/**
 * A version as a server has it: who signed it when the server took it, and whether what runs is still that.
 * @param agentId of the agent @throws TrustProblem
 */
export async function verifyPublished(
  operator: OperatorClient,
  { agentId, version }: { readonly agentId: string; readonly version: string },
  trust: TrustDocument,
): Promise<VerifiedSubject> {
  const { items, closure } = await operator.call('GET /attestations', { query: { agent: agentId, version } })
  const { statements, signers } = openPublication(
    items.filter(({ kind }) => kind === 'publication').map(toKnown),
    trust,
  )
  refuseUngrantedPublication(trust, statements, signers)
  const members = await readMembers(operator, statements[0]?.members ?? [])
  // The cast holds: the server names closures by their digests.
  refuseOtherContent(statements, { closure: closure as Digest, members })
  for (const item of items) if (item.kind === 'deployment') refuseBadDeployment(item, trust)
  return toSubject(trust, statements, signers)
}

const toKnown = ({ envelope, at }: AttestationView) => ({ envelope, at: Date.parse(at) })

function refuseBadDeployment(item: AttestationView, trust: TrustDocument): void {
  const { envelope, at } = toKnown(item)
  const { statement, signers } = openSigned(envelope, 'deployment', trust, at)
  refuseUngranted(trust, signers, statement.action, [statement.agent], statement.widens)
  if (statement.snapshot !== item.subject || statement.revision !== item.revision)
    throw new TrustProblem('digest', `deployment ${item.revision} is stored as another one than was signed`)
}

/** The members as the server has them, each with the digest of its content. */
async function readMembers(
  operator: OperatorClient,
  stated: readonly StatedMember[],
): Promise<readonly Omit<StatedMember, 'isKnown'>[]> {
  const found: Omit<StatedMember, 'isKnown'>[] = []
  for (const { kind, id, version } of stated) {
    if (kind === 'Agent') {
      const { digest: _digest, ...content } = await operator.call('GET /snapshot', { query: { agent: id, version } })
      // The digest of a snapshot has that of its policies, which stand in it.
      if (digestOfSet(content.policies) !== content.policies.digest)
        throw new TrustProblem('digest', `the policies of ${id}@${version} are not those that were signed`)
      found.push({ kind, id: content.id, version: content.version, digest: digestOfSnapshot(content) })
      continue
    }
    const { items } = await operator.call('GET /documents', { query: { kind, id } })
    const document = items.find((each) => each.version === version)
    if (document) found.push({ kind, id, version, digest: digestOfDocument(document) })
  }
  return found
}
