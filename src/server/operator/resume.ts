/** Runs that go on after they ended, or are started again. Source: decisions, section 18; command line, 2.7. */
import { fail } from '../../base/failure.ts'
import { isTerminal, type Run } from '../../spec/run.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import { startLimits } from '../runtime/rates.ts'
import type { ServerServices } from '../runtime/services.ts'
import { findWider } from './authority.ts'
import { findAgent, findRun, findVersion } from './find/find.ts'
import type { OperatorAction } from './people/act.ts'
import { toRunView } from './runs.ts'

export const resumeRun: OperatorAction<'POST /runs/:id/resume'> = async ({ services, operator, id, body }) => {
  const run = await findRun(services, id)
  const { reason, grant = false } = body
  await checkNotRetried(services, run)
  const version = await versionToGoOnWith(services, run, body)
  await services.engine.resume(run.id, {
    by: operator,
    ...(reason !== undefined && { reason }),
    ...(version && { version }),
    grants: grant,
  })
  return toRunView(services, await findRun(services, run.id))
}

/** Both would do the same work. */
async function checkNotRetried({ store, workspace }: ServerServices, run: Run): Promise<void> {
  const { items } = await store.runs({ workspaceId: workspace.id, origin: run.id }, { skip: 0, take: 100 })
  const retry = items.find(({ origin }) => origin?.kind === 'retry')
  if (retry) throw fail('run_not_resumable', { runId: run.id, why: `it was started again as run ${retry.id}` })
}

export interface VersionChoice {
  readonly version?: string
  readonly allowWiden?: boolean
  readonly allowYanked?: boolean
}

/**
 * The version that was asked for, where the run may go on with it unasked.
 * @returns undefined where none was asked for
 * @throws Failure `version_gone`, `version_yanked`, `version_wider`, `not_found`
 */
export async function versionToGoOnWith(
  services: ServerServices,
  run: Run,
  { version: label, allowWiden = false, allowYanked = false }: VersionChoice,
): Promise<AgentVersion | undefined> {
  const own = await services.store.version(run.agentVersionId)
  if (label === undefined) {
    if (!own) throw fail('version_gone', { runId: run.id, version: run.versionLabel })
    return undefined
  }
  const version = await findVersion(services, await findAgent(services, run.agentId), label)
  if (version.id === own?.id) return undefined
  const { snapshot, yanked, yankReason } = version
  if (yanked && !allowYanked)
    throw fail('version_yanked', { id: snapshot.id, version: snapshot.version, reason: yankReason })
  const wider = own ? await findWider(services, own.snapshot, snapshot) : []
  if (wider && !allowWiden) throw fail('version_wider', { version: label, from: run.versionLabel, changes: wider })
  return version
}

export const retryRun: OperatorAction<'POST /runs/:id/retry'> = async ({ services, operator, id }) => {
  const { store, engine, workspace, config } = services
  const run = await findRun(services, id)
  const session = (await store.session(run.sessionId))!
  if (run.parentRunId !== null) throw fail('not_a_root_run', { runId: run.id, rootRunId: session.rootRunId })
  if (!isTerminal(run.status)) throw fail('run_not_ended', { runId: run.id, status: run.status })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  const { metadata, tags } = session
  const { runId } = await engine.start({
    workspaceId: workspace.id,
    agentId: run.agentId,
    principal: operator,
    triggerType: 'operator',
    triggerId: null,
    triggerName: null,
    input: run.input,
    limits: startLimits(config),
    origin: { kind: 'retry', runId: run.id, sessionId: run.sessionId },
    ...(metadata && { metadata }),
    ...(tags && { tags }),
  })
  return toRunView(services, await findRun(services, runId))
}
