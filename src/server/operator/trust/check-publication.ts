/** Whether a publication may be stored. Source: docs/design/trust.md#order-of-checks */
import { findPredecessor } from '../../../authority/predecessor.ts'
import { digestOf } from '../../../base/digest.ts'
import { agentIdOf } from '../../../base/ids.ts'
import type { AgentSnapshot, CompiledBundle } from '../../../spec/snapshot.ts'
import type { Attestation } from '../../../spec/trust/attestation.ts'
import { readEnvelope } from '../../../spec/trust/dsse.ts'
import { readStatement, type StatedMember } from '../../../spec/trust/statement.ts'
import type { TrustDocument } from '../../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../../spec/trust/trust-problem.ts'
import { openPublication, refuseOtherContent, refuseUngranted } from '../../../spec/trust/verify-signed.ts'
import { compareVersions, snapshotLoader } from '../../runtime/authority.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { readTrustInForce, refusing } from './trust-in-force.ts'

type NamedMember = Omit<StatedMember, 'isKnown'>

/**
 * @param texts envelopes
 * @param checkMembers computes the digests of the members again; nothing of the bundle is read before it
 * @returns what is kept of the signatures
 * @throws Failure `trust_refused`, and what `checkMembers` throws
 */
export async function checkSignedPublication(
  services: ServerServices,
  bundle: CompiledBundle,
  texts: readonly string[],
  checkMembers: () => void,
): Promise<readonly Attestation[]> {
  const trust = await readTrustInForce(services)
  return await refusing('publication', async () => {
    const signers = trust && texts.length > 0 ? await checkSigners(services, trust, texts) : undefined
    checkMembers()
    const members = membersOf(bundle)
    if (texts.length === 0) {
      if (trust?.require.publication && (await findNew(services, members)).length > 0)
        throw new TrustProblem('envelope', 'nobody signed it')
      return []
    }
    const statements = texts.map((text) => readStatement(readEnvelope(text).payload, 'publication'))
    refuseOtherContent(statements, { closure: bundle.closureDigest, members })
    if (!statements.some(({ widens }) => widens) && (await widensAny(services, bundle)))
      throw new TrustProblem('statement', 'it says that nothing may do more than before, and something may')
    const [workspaceId, at] = [services.workspace.id, services.clock.now()]
    return texts.map((envelope) => ({
      workspaceId,
      digest: digestOf(envelope),
      kind: 'publication',
      subject: bundle.closureDigest,
      agent: null,
      revision: null,
      envelope,
      signers: signers ?? [],
      at,
    }))
  })
}

async function checkSigners(
  services: ServerServices,
  trust: TrustDocument,
  texts: readonly string[],
): Promise<readonly string[]> {
  const at = services.clock.now()
  const { statements, signers } = openPublication(
    texts.map((envelope) => ({ envelope, at })),
    trust,
  )
  const widens = statements.some((each) => each.widens)
  for (const { members } of statements) {
    const ids = (await findNew(services, members)).map(({ id }) => id)
    refuseUngranted(trust, signers, 'publish', ids, widens)
  }
  return signers.map(({ id }) => id)
}

const membersOf = ({ agents, documents }: CompiledBundle): readonly NamedMember[] => [
  ...agents.map(({ id, version, digest }) => ({ kind: 'Agent' as const, id, version, digest })),
  ...documents.map(({ kind, id, version, digest }) => ({ kind, id, version, digest })),
]

/** Members that are not published as they are: only what is new needs a grant. */
async function findNew(
  { store, workspace }: ServerServices,
  members: readonly NamedMember[],
): Promise<readonly NamedMember[]> {
  const found: NamedMember[] = []
  for (const member of members) {
    const { kind, id, version, digest } = member
    const isKnown =
      kind === 'Agent'
        ? (await store.versionByDigest(workspace.id, digest))?.snapshot.id === id
        : (await store.documents(workspace.id, kind, id)).some(
            (each) => each.version === version && each.digest === digest,
          )
    if (!isKnown) found.push(member)
  }
  return found
}

/** True where an agent is new, or may do more than the version of it before. */
async function widensAny(services: ServerServices, bundle: CompiledBundle): Promise<boolean> {
  const { store, workspace } = services
  const load = snapshotLoader(services)
  const inBundle = async (id: string, version: string): Promise<AgentSnapshot | undefined> =>
    bundle.agents.find((each) => each.id === id && each.version === version) ?? (await load(id, version))
  for (const agent of bundle.agents) {
    const versions = await store.versions(agentIdOf(workspace.name, agent.id))
    if (versions.some(({ snapshot }) => snapshot.digest === agent.digest)) continue
    const usable = versions.filter(({ yanked }) => !yanked).map(({ snapshot }) => snapshot.version)
    const label = findPredecessor(usable, agent.version)
    const before = versions.find(({ snapshot }) => snapshot.version === label)
    if (!before || (await compareVersions(before.snapshot, agent, load, inBundle)).widens) return true
  }
  return false
}
