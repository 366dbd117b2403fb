/** Publishing. Source: docs/design/bundles-and-authority.md#publish */
import { fail, type InvalidPlace } from '../../../base/failure.ts'
import { agentIdOf, versionIdOf } from '../../../base/ids.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import { digestOfSet } from '../../../policy/policy-set.ts'
import { digestOfDocument, digestOfSnapshot, type CompiledBundle, type AgentSnapshot } from '../../../spec/snapshot.ts'
import type { NewAct } from '../../../spec/people/act.ts'
import type { SetupName } from '../../../spec/people/setup-name.ts'
import type { StoredMember } from '../../../store/version-rows.ts'
import { throwFindings } from '../../http/refuse.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent } from '../find/find.ts'
import { checkSignedDeployment } from '../trust/check-deployment.ts'
import { activate, refuseYanked, setupOf, setupOfAgent, signedBy } from './deploy.ts'
import { checkSignedPublication } from '../trust/check-publication.ts'
import { readTrustDigest, readTrustInForce } from '../trust/trust-in-force.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

/** Stores every member of a closure. The digests are computed again: a member whose content is not what its digest says is refused. */
export const publishClosure: OperatorAction<'POST /publish'> = async ({ services, operator, body, act }) => {
  const { bundle, deploy: wantsDeploy = false, sources = [], attestations: texts = [], message } = body
  const judgedBy = await readTrustDigest(services)
  const attestations = await checkSignedPublication(services, bundle, texts, () => checkBundle(bundle))
  checkSources(sources)
  if (wantsDeploy && bundle.root === undefined)
    throw fail('validation_failed', { what: 'Only a bundle with a root agent can be deployed.' })
  if (wantsDeploy) await refuseUnsignedDeployment(services, bundle)
  const { store, workspace, clock } = services
  const agents = bundle.agents.map((snapshot) => ({
    id: versionIdOf(workspace.name, snapshot.id, snapshot.digest),
    agentId: agentIdOf(workspace.name, snapshot.id),
    snapshot,
    closureDigest: bundle.closureDigest,
  }))
  const toAct = (answer: unknown): NewAct | null => {
    const fresh = (answer as readonly StoredMember[]).filter(({ already }) => !already)
    if (fresh.length === 0 && attestations.length === 0) return null
    const members = Object.fromEntries(fresh.map(({ id, version, digest }) => [`${id}@${version}`, digest]))
    const subject = bundle.root ?? bundle.agents[0]?.id ?? bundle.documents[0]?.id ?? bundle.closureDigest
    return act('version.published', {
      subject,
      reason: message,
      after: { closure: bundle.closureDigest, members, ...signedBy(attestations) },
      setup: [...fresh.map((member) => setupNameOf(workspace.name, member)), ...setupOf(attestations)],
    })
  }
  const rows = await store.recording(toAct).publish({
    workspaceId: workspace.id,
    agents,
    documents: bundle.documents,
    written: { closureDigest: bundle.closureDigest, files: sources },
    attestations,
    judgedBy,
    ...(message !== undefined && { message }),
    at: clock.now(),
    by: operator.id,
  })
  const published = rows.map((row) => {
    const agent = row.kind === 'Agent' ? agents.find(({ snapshot }) => snapshot.id === row.id) : undefined
    return { ...row, ...(agent && { agentId: agent.agentId, agentVersionId: agent.id }) }
  })
  if (!wantsDeploy) return { published }
  const root = expectDefined(
    agents.find(({ snapshot }) => snapshot.id === bundle.root),
    'the root of a bundle is among its agents',
  )
  // A version that was already published may have been yanked since.
  const to = await store.version(root.id)
  refuseYanked(to, false)
  const { version } = root.snapshot
  const agent = await findAgent(services, root.agentId)
  if (to) await checkSignedDeployment(services, { agent, to, rollback: false, text: undefined, expiresAt: undefined })
  const from = await activate(services, operator, { agent, versionId: root.id, message, judgedBy }, (before) =>
    act('version.deployed', {
      subject: `${agent.name}@${version}`,
      reason: message,
      before,
      after: { version },
      setup: setupOfAgent(agent.id),
    }),
  )
  return {
    published,
    deployed: { agentId: root.agentId, agentVersionId: root.id, from: from?.snapshot.version ?? null },
  }
}

const setupNameOf = (workspace: string, { kind, id, version, digest }: StoredMember): SetupName =>
  kind === 'Agent' ? `version ${versionIdOf(workspace, id, digest)}` : `document ${kind} ${id} ${version}`

/** Before anything is stored: a deployment is signed by itself, with `POST /deploy`. */
async function refuseUnsignedDeployment(services: ServerServices, bundle: CompiledBundle): Promise<void> {
  const { store, workspace } = services
  const root = bundle.agents.find(({ id }) => id === bundle.root)
  const trust = await readTrustInForce(services)
  if (!root || !trust?.require.deployment) return
  const agent = await store.agent(agentIdOf(workspace.name, root.id))
  if (agent?.deployedVersionId === versionIdOf(workspace.name, root.id, root.digest)) return
  const why = 'it is signed by itself, after the publication: svc deploy --sign'
  throw fail('trust_refused', { what: 'deployment', step: 'envelope', why })
}

/** As bundles are limited. Source: docs/design/bundles-and-authority.md#paths-and-files */
const MAX_SOURCE_CHARACTERS = 32 * 1024 * 1024

/** Clients show these paths and write them to disk. */
function checkSources(sources: readonly { readonly path: string; readonly text: string }[]): void {
  const seen = new Set<string>()
  const problems = sources.flatMap(({ path }, index): InvalidPlace[] => {
    const isTwice = seen.has(path)
    seen.add(path)
    const names = path.split('/')
    const isInside = names.every((name) => name !== '' && name !== '.' && name !== '..') && !/[\\\p{Cc}:]/u.test(path)
    if (isInside && !isTwice) return []
    return [{ path: `/sources/${index}/path`, message: isTwice ? 'is there twice' : 'is no path inside a bundle' }]
  })
  if (sources.reduce((sum, { text }) => sum + text.length, 0) > MAX_SOURCE_CHARACTERS)
    problems.push({ path: '/sources', message: `has more than ${MAX_SOURCE_CHARACTERS} characters` })
  throwFindings(problems, 'The sources are not valid')
}

/** Only the parts read here are checked: the digest and the compiler guarantee the rest of a snapshot. */
function checkBundle(bundle: CompiledBundle): void {
  const problems: InvalidPlace[] = []
  bundle.agents.forEach((snapshot, index) => {
    const at = `/bundle/agents/${index}`
    if (!isJsonObject(snapshot) || !isJsonObject(snapshot.policies)) {
      problems.push({ path: at, message: 'is no snapshot' })
      return
    }
    const { digest, ...content } = snapshot as AgentSnapshot
    if (digestOfSnapshot(content) !== digest)
      problems.push({ path: `${at}/digest`, message: 'is not the digest of this snapshot' })
    else if (digestOfSet(snapshot.policies) !== snapshot.policies.digest)
      problems.push({ path: `${at}/policies/digest`, message: 'is not the digest of these policies' })
  })
  bundle.documents.forEach((member, index) => {
    const at = `/bundle/documents/${index}`
    if (!isJsonObject(member) || !isJsonObject(member.document)) problems.push({ path: at, message: 'is no document' })
    else if (digestOfDocument(member) !== member.digest)
      problems.push({ path: `${at}/digest`, message: 'is not the digest of this document' })
  })
  if (bundle.root !== undefined && !bundle.agents.some(({ id }) => id === bundle.root))
    problems.push({ path: '/bundle/root', message: 'names no agent of the bundle' })
  throwFindings(problems, 'The bundle is not valid')
}
