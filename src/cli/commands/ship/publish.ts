import { join, resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { differenceOf } from '../../../authority/change.ts'
import type { ReadArchive } from '../../../compile/package/archive.ts'
import { writtenFilesOf } from '../../../compile/package/sources.ts'
import type { OperatorRoutes } from '../../../operations/operations.ts'
import type { PublishedMember } from '../../../operations/versions.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { isArchivePath, openArchiveAt } from '../../release/archives.ts'
import { buildBundle, type BundleBuild, type BuildOptions } from '../../release/build.ts'
import { bumpVersions, type ReleaseStep } from '../../release/bump.ts'
import type { CommandContext } from '../../shell/command.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { lateEdgesOf, printUndeployed, type LateEdge } from '../../release/late-edges.ts'
import { checkDrift } from '../../release/lock-file.ts'
import { holdOlderRuns, warnOfSchedules } from '../../release/older-runs.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { planOf, type PublishPlan } from '../../release/plan.ts'
import { changeDetails, printPlan } from '../../release/print-plan.ts'
import { openProject, type Project } from '../../project/project.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { publishAnswer } from '../../answers/ship.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { resolveAgent } from '../../project/reference.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { addSignature, openSigner, type Signer } from '../../trust/signer.ts'
import { signDeployment, stateDeployment } from '../../trust/state-deployment.ts'
import { statePublication } from '../../trust/state-publication.ts'

type PublishAnswer = OperatorRoutes['POST /publish']['answer']
type PublishJson = ValueOf<typeof publishAnswer>

export async function publish(call: CommandContext<PublishJson>): Promise<void> {
  const { given, cwd } = call
  const paths = given.rest(0).map((path) => (path === '-' ? path : resolve(cwd, path)))
  const project = await openProject(
    call,
    paths.find((path) => path !== '-'),
  )
  const wanted = paths.length > 0 ? paths : [project.directory]
  const key = given.text('sign')
  const signer = key === undefined ? undefined : await openSigner(call, key)
  await withOperatorOf(project, call, async (operator) => {
    const results: PublishResult[] = []
    for (const path of wanted)
      results.push(
        await publishPath(call, {
          project,
          operator,
          path,
          deploy: given.flag('deploy'),
          strict: given.flag('strict'),
          message: given.text('message'),
          planOnly: given.flag('plan'),
          showsFirst: true,
          allowWiden: given.flag('allow-widen'),
          bump: given.text('bump') as ReleaseStep | undefined,
          locked: isSet(call.io.env['CI']),
          signer,
        }),
      )
    await printPublished(call, operator, results)
    const edges = results.flatMap(({ late = [] }) => late)
    await printUndeployed(call, operator, edges)
  })
}

async function printPublished(
  call: CommandContext<PublishJson>,
  operator: OperatorClient,
  results: readonly PublishResult[],
): Promise<void> {
  const { mode, out } = call
  const published = results.flatMap(({ answer }) => answer?.published ?? [])
  const deployed = results.findLast(({ answer }) => answer?.deployed)?.answer?.deployed
  const active = deployed && published.find(({ agentVersionId }) => agentVersionId === deployed.agentVersionId)
  if (!mode.json) {
    published.forEach((each) => out.prose(lineOf(each)))
    if (active) out.prose(`deployed ${active.id}@${active.version}`)
  }
  const older = active && (await holdOlderRuns(call, operator, active.id, active.version))
  if (active) await warnOfSchedules(call, operator, active.id)
  if (mode.json)
    return await out.json({
      published,
      plan: wholePlan(results.map(({ plan }) => plan)),
      ...(deployed && { deployed }),
      ...(older && { older }),
    })
  const rootId = results.findLast((each) => each.root !== undefined)?.root
  const agent = published.find(({ kind, id }) => kind === 'Agent' && id === rootId)
  if (!deployed && agent && !(await isDeployed(operator, agent)))
    out.hint(`next:  svc deploy ${agent.id}@${agent.version}`)
}

/** The plans of all paths as one. */
function wholePlan(plans: readonly PublishPlan[]): PublishJson['plan'] {
  const changes = plans.flatMap((plan) => plan.changes)
  const matrix = plans.flatMap((plan) => plan.matrix)
  return {
    breaking: differenceOf(changes).breaking,
    steps: plans.flatMap(({ steps }) => steps),
    changes,
    ...(matrix.length > 0 && { matrix }),
  }
}

async function isDeployed(operator: OperatorClient, { agentId, agentVersionId }: PublishedMember): Promise<boolean> {
  const { items } = await operator.call('GET /agents', { query: {} })
  return items.find((each) => each.agentId === agentId)?.deployed?.agentVersionId === agentVersionId
}

interface Publishing {
  readonly project: Project
  readonly operator: OperatorClient
  /** Absolute, or `-` for an archive on standard input. */
  readonly path: string
  readonly deploy: boolean
  readonly strict?: boolean
  readonly message?: string | undefined
  /** Shows the changes and stores nothing. */
  readonly planOnly?: boolean
  /** Shows the whole authority of agents that are published for the first time. */
  readonly showsFirst?: boolean
  /** Publishes wider authority without asking. */
  readonly allowWiden?: boolean
  readonly bump?: ReleaseStep | undefined
  /** Refuses to publish if svc.lock is not up to date. */
  readonly locked?: boolean
  /** Signs the publication, and the deployment if there is one. */
  readonly signer?: Signer | undefined
}

interface PublishResult {
  readonly plan: PublishPlan
  /** `namespace.name` of the root agent; absent for a document alone. */
  readonly root?: string
  /** Absent for a plan, and if a person declined. */
  readonly answer?: PublishAnswer
  /** Late-bound delegations of what was deployed. */
  readonly late?: readonly LateEdge[]
}

type PublishContext = Pick<CommandContext, 'mode' | 'out' | 'io' | 'signal' | 'cwd'>

/**
 * Builds the documents at the path, compares them with published versions, and stores them.
 * @throws Failure `documents_have_errors`, `version_exists`, `authority_widened`, `version_too_small`, `compile/drift`, `usage` for a
 * deployment without an agent
 */
export async function publishPath(call: PublishContext, publishing: Publishing): Promise<PublishResult> {
  const { operator, path, deploy, message, planOnly = false, showsFirst = false, signer } = publishing
  const { built, texts, archive } = await buildFor(call, publishing)
  const { workspace, findings, compiled } = built
  printFindings(call, findings, workspace)
  if (!compiled?.bundle) throw documentsFailure(findings, call)
  const { bundle } = compiled
  if (deploy && bundle.root === undefined) throw usageFailure(`${path} holds no agent that could be deployed.`)
  const plan = await planOf(operator, bundle)
  if (planOnly || plan.changes.length > 0 || (showsFirst && plan.matrix.length > 0)) printPlan(call, plan, planOnly)
  const root = bundle.root === undefined ? {} : { root: bundle.root }
  if (planOnly) return { plan, ...root }
  // The store refuses an existing version with other content, and lists the differences.
  if (!plan.steps.some(({ taken }) => taken) && !(await mayPublish(call, publishing, plan))) {
    call.out.message('nothing was published')
    return { plan, ...root }
  }
  for (const [file, text] of Object.entries(texts)) await writeUserFile(join(workspace.root, file), text)
  const sources = writtenFilesOf(workspace, bundle, compiled)
  const added =
    signer && (await addSignature(signer, await statePublication(call, { workspace, compiled, archive }, bundle, plan)))
  const envelopes = [...(archive?.attestations ?? []), ...(added === undefined ? [] : [added])]
  const body = {
    bundle,
    // Each is signed by itself.
    deploy: deploy && !signer,
    sources,
    ...(message !== undefined && { message }),
    ...(envelopes.length > 0 && { attestations: envelopes }),
  }
  const published = await operator.call('POST /publish', { body })
  if (!deploy) return { plan, ...root, answer: published }
  const answer = signer ? await deploySigned(call, publishing, signer, bundle.root, published) : published
  const documents = isArchivePath(path) ? undefined : { workspace, cwd: call.cwd }
  return { plan, ...root, answer, late: lateEdgesOf(bundle.agents, documents) }
}

async function deploySigned(
  call: PublishContext,
  { operator, message }: Publishing,
  signer: Signer,
  rootId: string | undefined,
  answer: PublishAnswer,
): Promise<PublishAnswer> {
  const root = answer.published.find(({ kind, id }) => kind === 'Agent' && id === rootId)
  const agent = root && (await resolveAgent(root.id, operator))
  if (!agent || agent.deployed?.agentVersionId === root.agentVersionId) return answer
  const wanted = { agent, version: root.version, rollback: false, reason: message, expires: null }
  const attestation = await signDeployment(await stateDeployment(call, operator, wanted), signer)
  const body = { agent: agent.agentId, version: root.version, attestation, ...(message !== undefined && { message }) }
  const { agentId, agentVersionId, from } = await operator.call('POST /deploy', { body })
  return { ...answer, deployed: { agentId, agentVersionId, from } }
}

/** The build, after `--bump`; `texts` are the files that it rewrites. */
async function buildFor(
  call: PublishContext,
  { project, operator, path, strict = false, bump: release, locked = false }: Publishing,
): Promise<{
  readonly built: BundleBuild
  readonly texts: Readonly<Record<string, string>>
  readonly archive?: ReadArchive
}> {
  const archive: ReadArchive | undefined = isArchivePath(path) ? await openArchiveAt(call, path) : undefined
  const options: BuildOptions = { project, operator, path, strict, ...(archive && { archive }) }
  const built = await buildBundle(options)
  const bundle = built.compiled?.bundle
  // A single Tool or Policy pins nothing, and an archive is independent of the lock beside the documents.
  if (locked && !archive && release === undefined && bundle?.root !== undefined) checkDrift(built, call.cwd)
  if (release === undefined || !bundle) return { built, texts: {}, ...(archive && { archive }) }
  if (archive) throw usageFailure('An archive is not rewritten: --bump is for documents.')
  const { steps } = await planOf(operator, bundle)
  // The root announces all changes below it; other members are raised only if their version exists or is too small.
  const raised = new Set(
    steps
      .filter(({ id, taken, enough }) => taken || !enough || id === bundle.root)
      .map(({ kind, id }) => `${kind} ${id}`),
  )
  const documents = built.workspace.documents.filter((each) => raised.has(`${each.kind} ${each.identity?.id}`))
  const texts = bumpVersions(built.workspace, documents, release)
  return { built: await buildBundle({ ...options, overlay: texts }), texts }
}

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0' && value !== 'false'

async function mayPublish(
  call: PublishContext,
  { allowWiden = false }: Publishing,
  plan: PublishPlan,
): Promise<boolean> {
  const wider = plan.changes.filter(({ widens }) => widens)
  if (wider.length > 0 && !allowWiden && !call.mode.interactive)
    throw fail('authority_widened', { changes: wider.length }, { details: changeDetails(wider) })
  const small = plan.steps.find(({ enough }) => !enough)
  if (small)
    throw fail(
      'version_too_small',
      { id: small.id, version: small.to, latest: small.from!, required: small.required!, least: small.least! },
      { details: changeDetails(plan.changes, ({ kind }) => ` (${kind})`) },
    )
  if (wider.length === 0 || allowWiden) return true
  return await call.io.prompts.confirm('Publish a version with wider authority?', call.signal)
}

const lineOf = ({ kind, id, version, digest, agentId, agentVersionId, already }: PublishedMember): string =>
  [
    `${already ? 'already published' : 'published'} ${kind === 'Agent' ? '' : `${kind.toLowerCase()} `}${id}@${version}`,
    `${digest.slice(0, 15)}…`,
    ...(agentId && agentVersionId ? [`agent ${agentId}`, `version ${shortId(agentVersionId)}`] : []),
  ].join('   ')
