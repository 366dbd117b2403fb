/** What was signed about a version. Source: docs/design/trust.md#verifying */
import { toIsoText } from '../../../base/clock.ts'
import type { AttestationView } from '../../../operations/trust.ts'
import type { Attestation } from '../../../spec/trust/attestation.ts'
import { storedVersion } from '../../../store/altered-versions.ts'
import { findAgent, findVersion } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'

export const listAttestations: OperatorAction<'GET /attestations'> = async ({ services, query }) => {
  const { store, workspace } = services
  const agent = await findAgent(services, query.agent)
  const deployed =
    agent.deployedVersionId === null ? undefined : await storedVersion(store, agent.id, agent.deployedVersionId)
  const version = query.version === undefined ? deployed : await findVersion(services, agent, query.version)
  const subjects = version ? [version.closureDigest, version.snapshot.digest] : []
  const found = await store.attestations(workspace.id, subjects)
  const items = found.filter((each) => each.agent === null || each.agent === agent.name).map(toAttestationView)
  return {
    items,
    total: items.length,
    version: version?.snapshot.version ?? null,
    closure: version?.closureDigest ?? null,
    revision: await store.deploymentRevision(workspace.id, agent.name),
  }
}

const toAttestationView = ({
  kind,
  digest,
  subject,
  revision,
  signers,
  at,
  envelope,
}: Attestation): AttestationView => ({
  kind,
  digest,
  subject,
  revision,
  signers: [...signers],
  at: toIsoText(at),
  envelope,
})
