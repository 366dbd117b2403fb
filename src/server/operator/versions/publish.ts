/** Publishing and deploying. Source: docs/design/bundles-and-authority.md#publish */
import { fail, type InvalidPlace } from '../../../base/failure.ts'
import { agentIdOf, versionIdOf, type AgentId, type VersionId } from '../../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { digestOfSet } from '../../../policy/policy-set.ts'
import { digestOfDocument, digestOfSnapshot, type CompiledBundle, type AgentSnapshot } from '../../../spec/snapshot.ts'
import type { NewAct } from '../../../spec/people/act.ts'
import type { SetupName } from '../../../spec/people/setup-name.ts'
import type { Attestation } from '../../../spec/trust/attestation.ts'
import type { AgentRow, AgentVersion, SignedDeployment, StoredMember } from '../../../store/version-rows.ts'
import { throwFindings } from '../../http/refuse.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import type { OperatorAction } from '../people/act.ts'
import { findAgent, findVersion } from '../find/find.ts'
import { checkSignedDeployment } from '../trust/check-deployment.ts'
import { checkSignedPublication } from '../trust/check-publication.ts'
import { readTrustInForce } from '../trust/trust-in-force.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'
import { OPEN_STATUSES } from '../../../spec/run/run.ts'

/** Stores every member of a closure. The digests are computed again: a member whose content is not what its digest says is refused. */
export const publishClosure: OperatorAction<'POST /publish'> = async ({ services, operator, body, act }) => {
  const { bundle, deploy: wantsDeploy = false, sources = [], attestations: texts = [], message } = body
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
  if (to) await checkSignedDeployment(services, { agent, to, rollback: false, text: undefined })
  const from = await activate(services, operator, { agent, versionId: root.id, message }, (before) =>
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

/** Makes a version the active one: the one named, the newest that is not yanked, or the last deployed one that is not. */
export const deployVersion: OperatorAction<'POST /deploy'> = async ({ services, operator, body, act }) => {
  const { agent: reference, version: label, rollback = false, allowYanked = false, message, attestation } = body
  if (rollback && label !== undefined)
    throwFindings([{ path: '/rollback', message: 'cannot come with version' }], 'The body is not valid')
  const agent = await findAgent(services, reference)
  const choose = (): Promise<AgentVersion> => {
    if (rollback) return previous(services, agent)
    return label === undefined ? newest(services, agent) : findVersion(services, agent, label)
  }
  const to = await choose()
  refuseYanked(to, allowYanked)
  const { version } = to.snapshot
  const signed = await checkSignedDeployment(services, { agent, to, rollback, text: attestation })
  const from = await activate(services, operator, { agent, versionId: to.id, message, signed }, (before) =>
    act(rollback || signed?.isRollback ? 'version.rolled_back' : 'version.deployed', {
      subject: `${agent.name}@${version}`,
      reason: message,
      before,
      after: { version, ...(to.yanked && { yanked: true }), ...signedBy(signed ? [signed.attestation] : []) },
      setup: [...setupOfAgent(agent.id), ...setupOf(signed ? [signed.attestation] : [])],
    }),
  )
  const runningOnOld = from && from.id !== to.id ? await countOpenSessions(services, agent, from) : 0
  return {
    agentId: agent.id,
    from: from?.snapshot.version ?? null,
    to: to.snapshot.version,
    agentVersionId: to.id,
    runningOnOld,
  }
}

interface WantedDeployment {
  readonly agent: AgentRow
  readonly versionId: VersionId
  readonly message: string | undefined
  readonly signed?: SignedDeployment | undefined
}

/** What an act says of signatures: the chain of acts proves which envelopes the server took. */
const signedBy = (attestations: readonly Attestation[]): JsonObject =>
  attestations.length === 0
    ? {}
    : {
        attestations: attestations.map(({ digest }) => digest),
        signers: [...new Set(attestations.flatMap(({ signers }) => signers))],
      }

const setupOf = (attestations: readonly Attestation[]): readonly SetupName[] =>
  attestations.map(({ digest }): SetupName => `attestation ${digest}`)

const setupOfAgent = (id: AgentId): readonly SetupName[] => [`agent ${id}`, `deployments ${id}`]

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

async function activate(
  { store, clock }: ServerServices,
  operator: OperatorPrincipal,
  { agent, versionId, message, signed }: WantedDeployment,
  toAct: (before: JsonValue) => NewAct,
): Promise<AgentVersion | undefined> {
  const known = agent.deployedVersionId === null ? undefined : await store.version(agent.deployedVersionId)
  // Whether a signature is needed was decided by this: what is replaced meanwhile is not deployed again without one.
  if (known?.id === versionId) return known
  const recorded = store.recording((answer) => {
    const { from: id } = answer as { readonly from: VersionId | null }
    // The same version again changes nothing.
    if (id === versionId) return null
    if (id === null) return toAct(null)
    return toAct(id === known?.id ? { version: known.snapshot.version } : { versionId: id })
  })
  const { from } = await recorded.deploy(agent.id, versionId, clock.now(), operator.id, message, signed && { signed })
  return from === null ? undefined : store.version(from)
}

/** @throws Failure `version_yanked` */
function refuseYanked(version: AgentVersion | undefined, allowed: boolean): void {
  if (version?.yanked !== true || allowed) return
  const { snapshot, yankReason } = version
  throw fail('version_yanked', { id: snapshot.id, version: snapshot.version, reason: yankReason })
}

async function previous({ store }: ServerServices, agent: AgentRow): Promise<AgentVersion> {
  const earlier = [agent.previousVersionId, ...(await store.deployedVersions(agent.id))]
  for (const id of earlier) {
    if (id === null || id === agent.deployedVersionId) continue
    const version = await store.version(id)
    if (version?.yanked === false) return version
  }
  throw fail('not_found', { what: `earlier deployment of ${agent.name} that is not yanked` })
}

async function newest({ store }: ServerServices, agent: AgentRow): Promise<AgentVersion> {
  const usable = (await store.versions(agent.id)).filter(({ yanked }) => !yanked)
  const version = usable.sort((a, b) => b.publishedAt - a.publishedAt)[0]
  if (!version) throw fail('not_found', { what: `published version of ${agent.name}` })
  return version
}

/** The number of open sessions of a version. */
export const countOpenSessions = async (
  { store, workspace }: ServerServices,
  agent: AgentRow,
  version: AgentVersion,
): Promise<number> =>
  (
    await store.sessions(
      { workspaceId: workspace.id, agentId: agent.id, versionId: version.id, status: OPEN_STATUSES },
      { skip: 0, take: 1 },
    )
  ).total

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
