/** What is signed about a deployment. Source: docs/design/trust.md#deployments */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { Digest } from '../../base/digest.ts'
import type { AgentView } from '../../operations/versions.ts'
import { readEnvelope } from '../../spec/trust/dsse.ts'
import { readStatement, writeDeployment, type DeploymentStatement } from '../../spec/trust/statement.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { versionViews } from '../project/registry.ts'
import type { CommandContext } from '../shell/command.ts'
import { addSignature, type Signer } from './signer.ts'

interface WantedDeploymentStatement {
  readonly agent: AgentView
  readonly version: string
  readonly rollback: boolean
  readonly reason: string | undefined
  /** When it ends. */
  readonly expires: Instant | null
}

/** States the deployment as the server has to find it: what it replaces, the next revision, and whether it may do more. */
export async function stateDeployment(
  { io }: Pick<CommandContext, 'io'>,
  operator: OperatorClient,
  { agent, version, rollback, reason, expires }: WantedDeploymentStatement,
): Promise<DeploymentStatement> {
  const from = agent.deployed?.versionLabel ?? null
  const found = (await versionViews(operator, agent.name)).find(({ versionLabel }) => versionLabel === version)
  if (!found) throw fail('not_found', { what: `version "${agent.name}@${version}"` })
  const { revision } = await operator.call('GET /attestations', { query: { agent: agent.agentId } })
  const difference = { agent: agent.agentId, from: from ?? '', to: version }
  return {
    agent: agent.name,
    version,
    // The cast holds: the server names versions by their digests.
    snapshot: found.digest as Digest,
    action: rollback ? 'rollback' : 'deploy',
    from,
    revision: revision + 1,
    widens: from === null || (await operator.call('GET /difference', { query: difference })).widens,
    reason: reason ?? null,
    expires,
    signedAt: toIsoText(io.clock.now()),
  }
}

/**
 * Signs what somebody else has signed, as it is.
 * @param wanted what the server has to find now
 * @param isEndGiven whether the end of the deployment has to be that of `wanted`, too
 * @throws Failure `signed_otherwise` where the other one signed something else
 */
export async function coSignDeployment(
  text: string,
  wanted: DeploymentStatement,
  signer: Signer,
  isEndGiven: boolean,
): Promise<string> {
  const envelope = readEnvelope(text)
  const signed = readStatement(envelope.payload, 'deployment')
  const { reason: _reason, signedAt: _at, expires, ...given } = wanted
  const facts = isEndGiven ? { ...given, expires } : given
  const other = Object.entries(facts).find(([name, value]) => signed[name as keyof DeploymentStatement] !== value)
  if (other)
    throw fail('signed_otherwise', {
      what: other[0],
      signed: String(signed[other[0] as keyof DeploymentStatement]),
      found: String(other[1]),
    })
  return await addSignature(signer, envelope.payload, envelope.signatures)
}

export const signDeployment = (statement: DeploymentStatement, signer: Signer): Promise<string> =>
  addSignature(signer, writeDeployment(statement))
