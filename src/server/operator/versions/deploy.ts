/** Deploying: which version new runs execute, and until when. Source: docs/design/bundles-and-authority.md#deploy-and-yank */
import { isoOrNull, toIsoText, type Instant } from '../../../base/clock.ts'
import type { Digest } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import type { AgentId, VersionId } from '../../../base/ids.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'
import type { JsonObject, JsonValue } from '../../../base/json/json.ts'
import type { NewAct } from '../../../spec/people/act.ts'
import type { SetupName } from '../../../spec/people/setup-name.ts'
import { OPEN_STATUSES } from '../../../spec/run/run.ts'
import type { Attestation } from '../../../spec/trust/attestation.ts'
import type { AgentRow, AgentVersion, SignedDeployment } from '../../../store/version-rows.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import { throwFindings } from '../../http/refuse.ts'
import { intactVersion, storedVersion } from '../../../store/altered-versions.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { findAgent, findVersion } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { checkSignedDeployment } from '../trust/check-deployment.ts'
import { readTrustDigest } from '../trust/trust-in-force.ts'

/** Makes a version the active one: the one named, the newest that is not yanked, or the last deployed one that is not. */
export const deployVersion: OperatorAction<'POST /deploy'> = async ({ services, operator, body, act }) => {
  const { agent: reference, version: label, rollback = false, allowYanked = false, message, attestation } = body
  const asked = readEnd(body.expiresAt, services.clock.now())
  if (rollback && label !== undefined)
    throwFindings([{ path: '/rollback', message: 'cannot come with version' }], 'The body is not valid')
  const agent = await findAgent(services, reference)
  const choose = (): Promise<AgentVersion> => {
    if (rollback) return previous(services, agent)
    return label === undefined ? newest(services, agent) : findVersion(services, agent, label)
  }
  // Read again by its id, which refuses one that was altered.
  const to = expectDefined(await services.store.version((await choose()).id), 'it was found just now')
  refuseYanked(to, allowYanked)
  const { version } = to.snapshot
  const judgedBy = await readTrustDigest(services)
  const signed = await checkSignedDeployment(services, { agent, to, rollback, text: attestation, expiresAt: asked })
  const expiresAt = signed ? signed.expiresAt : asked
  const from = await activate(
    services,
    operator,
    { agent, versionId: to.id, message, signed, judgedBy, expiresAt },
    (before) =>
      act(rollback || signed?.isRollback ? 'version.rolled_back' : 'version.deployed', {
        subject: `${agent.name}@${version}`,
        reason: message,
        before,
        after: {
          version,
          ...(to.yanked && { yanked: true }),
          ...shownEnd(expiresAt),
          ...signedBy(signed ? [signed.attestation] : []),
        },
        setup: [...setupOfAgent(agent.id), ...setupOf(signed ? [signed.attestation] : [])],
      }),
  )
  const runningOnOld = from && from.id !== to.id ? await countOpenSessions(services, agent, from) : 0
  return {
    agentId: agent.id,
    from: from?.snapshot.version ?? null,
    to: to.snapshot.version,
    expiresAt: isoOrNull(endOf(agent, to.id, expiresAt)),
    agentVersionId: to.id,
    runningOnOld,
  }
}

interface WantedDeployment {
  readonly agent: AgentRow
  readonly versionId: VersionId
  readonly message: string | undefined
  readonly signed?: SignedDeployment | undefined
  readonly judgedBy: Digest | null
  /** Null for no end. Where it is absent, the version that is deployed already keeps its end. */
  readonly expiresAt?: Instant | null | undefined
}

/** @throws Failure `validation_failed` for a moment that is no time, or is over */
function readEnd(text: string | null | undefined, now: Instant): Instant | null | undefined {
  if (typeof text !== 'string') return text
  const at = Date.parse(text)
  if (!(at > now)) throwFindings([{ path: '/expiresAt', message: 'must be a time to come' }], 'The body is not valid')
  return at
}

const shownEnd = (expiresAt: Instant | null | undefined): JsonObject =>
  expiresAt == null ? {} : { expiresAt: toIsoText(expiresAt) }

/** When a deployment ends. */
const endOf = (agent: AgentRow, versionId: VersionId, expiresAt: Instant | null | undefined): Instant | null =>
  expiresAt ?? (expiresAt === undefined && agent.deployedVersionId === versionId ? agent.deployedUntil : null)

/** @param toAct makes the record of it; `before` is what was deployed */
export async function activate(
  { store, clock }: ServerServices,
  operator: OperatorPrincipal,
  { agent, versionId, message, signed, judgedBy, expiresAt: asked }: WantedDeployment,
  toAct: (before: JsonValue) => NewAct,
): Promise<AgentVersion | undefined> {
  const known =
    agent.deployedVersionId === null ? undefined : await storedVersion(store, agent.id, agent.deployedVersionId)
  const expiresAt = endOf(agent, versionId, asked)
  // Whether a signature is needed was decided by this: what is replaced meanwhile is not deployed again without one.
  if (known?.id === versionId && expiresAt === agent.deployedUntil) return known
  const recorded = store.recording((answer) => {
    const { from: id, isChanged } = answer as { readonly from: VersionId | null; readonly isChanged: boolean }
    if (!isChanged) return null
    if (id === null) return toAct(null)
    return toAct(
      id === known?.id ? { version: known.snapshot.version, ...shownEnd(agent.deployedUntil) } : { versionId: id },
    )
  })
  const { from } = await recorded.deploy(agent.id, versionId, clock.now(), operator.id, message, {
    ...(signed && { signed }),
    expiresAt,
    judgedBy,
  })
  return from === null ? undefined : storedVersion(store, agent.id, from)
}

/** What an act says of signatures: the chain of acts proves which envelopes the server took. */
export const signedBy = (attestations: readonly Attestation[]): JsonObject =>
  attestations.length === 0
    ? {}
    : {
        attestations: attestations.map(({ digest }) => digest),
        signers: [...new Set(attestations.flatMap(({ signers }) => signers))],
      }

export const setupOf = (attestations: readonly Attestation[]): readonly SetupName[] =>
  attestations.map(({ digest }): SetupName => `attestation ${digest}`)

export const setupOfAgent = (id: AgentId): readonly SetupName[] => [`agent ${id}`, `deployments ${id}`]

/** @throws Failure `version_yanked` */
export function refuseYanked(version: AgentVersion | undefined, allowed: boolean): void {
  if (version?.yanked !== true || allowed) return
  const { snapshot, yankReason } = version
  throw fail('version_yanked', { id: snapshot.id, version: snapshot.version, reason: yankReason })
}

async function previous({ store }: ServerServices, agent: AgentRow): Promise<AgentVersion> {
  const earlier = [agent.previousVersionId, ...(await store.deployedVersions(agent.id))]
  for (const id of earlier) {
    if (id === null || id === agent.deployedVersionId) continue
    const version = await intactVersion(store, id)
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
