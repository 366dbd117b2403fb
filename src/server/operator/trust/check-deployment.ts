/** Whether a version may be deployed. Source: docs/design/trust.md#deployments */
import type { Instant } from '../../../base/clock.ts'
import { digestOf } from '../../../base/digest.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { TrustProblem } from '../../../spec/trust/trust-problem.ts'
import { openSigned, refuseExpired, refuseUngranted } from '../../../spec/trust/verify-signed.ts'
import type { AgentRow, AgentVersion, SignedDeployment } from '../../../store/version-rows.ts'
import { intactVersion, storedVersion } from '../../../store/altered-versions.ts'
import { compareVersions, snapshotLoader } from '../../runtime/authority.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { readTrustInForce, refusing } from './trust-in-force.ts'

interface WantedVersion {
  readonly agent: AgentRow
  readonly to: AgentVersion
  readonly rollback: boolean
  /** Envelope; undefined where nobody signed it. */
  readonly text: string | undefined
  /** When it ends, as the request says; undefined for the end there is. */
  readonly expiresAt: Instant | null | undefined
}

interface CheckedDeployment extends SignedDeployment {
  readonly isRollback: boolean
  readonly expiresAt: Instant | null
}

/** @returns what is kept; undefined for a deployment that needs no signature @throws Failure `trust_refused` */
export async function checkSignedDeployment(
  services: ServerServices,
  { agent, to, rollback, text, expiresAt }: WantedVersion,
): Promise<CheckedDeployment | undefined> {
  const trust = await readTrustInForce(services)
  return await refusing('deployment', async () => {
    if (text === undefined) {
      // The version that is deployed already changes nothing, but for its end.
      const keepsEnd = expiresAt === undefined || expiresAt === agent.deployedUntil
      if (trust?.require.deployment && !(agent.deployedVersionId === to.id && keepsEnd))
        throw new TrustProblem('envelope', 'nobody signed it')
      return undefined
    }
    if (!trust) throw new TrustProblem('key', 'no trust document says whose signature counts')
    const at = services.clock.now()
    refuseExpired(trust, at)
    const { statement, signers } = openSigned(text, 'deployment', trust, at)
    refuseUngranted(trust, signers, statement.action, [statement.agent], statement.widens)
    const { id: name, version, digest } = to.snapshot
    if (statement.agent !== name || statement.version !== version || statement.snapshot !== digest)
      throw new TrustProblem('digest', `${statement.agent}@${statement.version} was signed, not ${name}@${version}`)
    await checkAction(services, agent, to, rollback || statement.action === 'rollback', statement.action)
    const { store } = services
    const deployed = agent.deployedVersionId
    const from = deployed === null ? undefined : await storedVersion(store, agent.id, deployed)
    if ((from?.snapshot.version ?? null) !== statement.from)
      throw new TrustProblem('statement', `it replaces ${statement.from}, and ${from?.snapshot.version} is deployed`)
    // Whatever replaces one that was altered may do more: what that one might is not known.
    const before = deployed === null ? undefined : await intactVersion(store, deployed)
    if (!statement.widens && (await widens(services, before?.snapshot, to.snapshot)))
      throw new TrustProblem('statement', 'it says that nothing may do more than before, and something may')
    if (statement.expires !== null && statement.expires <= at)
      throw new TrustProblem('statement', 'its deployment has ended already')
    return {
      expiresAt: statement.expires,
      isRollback: statement.action === 'rollback',
      from: agent.deployedVersionId,
      attestation: {
        workspaceId: services.workspace.id,
        digest: digestOf(text),
        kind: 'deployment',
        subject: digest,
        agent: name,
        revision: statement.revision,
        envelope: text,
        signers: signers.map(({ id }) => id),
        at,
      },
    }
  })
}

/** Only a version that was deployed before can be gone back to: the right to go back is less than the right to deploy. */
async function checkAction(
  { store }: ServerServices,
  agent: AgentRow,
  to: AgentVersion,
  isRollback: boolean,
  signed: 'deploy' | 'rollback',
): Promise<void> {
  if (!isRollback) return
  if (signed !== 'rollback') throw new TrustProblem('statement', 'a deployment was signed, not going back')
  if (!(await store.lastDeployment(agent.id, to.id)))
    throw new TrustProblem('statement', `${to.snapshot.version} was never deployed, so nobody can go back to it`)
}

const widens = async (services: ServerServices, from: AgentSnapshot | undefined, to: AgentSnapshot): Promise<boolean> =>
  from === undefined || (await compareVersions(from, to, snapshotLoader(services))).widens
