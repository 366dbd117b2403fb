/** Runs that go on after they ended, or are started again. Source: docs/design/steering.md#resume */
import { fail, isFailure } from '../../../base/failure.ts'
import { isTerminal, type Run } from '../../../spec/run/run.ts'
import type { AgentVersion } from '../../../store/version-rows.ts'
import { startLimits } from '../../runtime/rates.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { findWider } from '../versions/authority.ts'
import { findAgent, findRun, findVersion } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { describeRun } from '../../acts/act-subjects.ts'
import { toRunView } from '../runs.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

export const resumeRun: OperatorAction<'POST /runs/:id/resume'> = async ({ services, operator, id, body, act }) => {
  const { reason, grant = false } = body
  const runId = await untilUnchanged(async () => {
    const { run, seen } = await readEnded(services, id)
    const retry = (await retriesOf(services, run))[0]
    // A run and its retry would do the same work.
    if (retry)
      throw fail(
        'run_not_resumable',
        { runId: run.id, why: `it was started again as run ${retry.id}` },
        { fix: `Go on with that run: svc runs get ${retry.id}` },
      )
    const version = await versionToGoOnWith(services, run, body)
    await services.engine.resume(run.id, {
      by: operator,
      ...(reason !== undefined && { reason }),
      ...(version && { version }),
      // A held run has not ended, so it cannot have been retried.
      ...(isTerminal(run.status) && { seen }),
      grants: grant,
      act: act('run.resumed', {
        subject: describeRun(run),
        reason,
        run,
        before: { version: run.versionLabel },
        after: { version: version?.snapshot.version ?? run.versionLabel, grants: grant },
      }),
    })
    return run.id
  })
  return toRunView(services, await findRun(services, runId))
}

/** Maximum attempts while other writers save the session in between. */
const MOST_LOOKS = 20

/** Repeats the work if the session was saved between reading and changing it. */
async function untilUnchanged<T>(work: () => Promise<T>): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await work()
    } catch (error) {
      if (!isFailure(error, 'run_moved_on') || look === MOST_LOOKS) throw error
    }
  }
}

/** A run, and the version of its session as it was read before the run. */
async function readEnded(services: ServerServices, id: string): Promise<{ readonly run: Run; readonly seen: number }> {
  const { sessionId } = await findRun(services, id)
  const { version } = expectDefined(await services.store.session(sessionId), 'a run has a session')
  return { run: await findRun(services, id), seen: version }
}

/** Newest first. */
async function retriesOf({ store, workspace }: ServerServices, run: Run): Promise<readonly Run[]> {
  const { items } = await store.runs({ workspaceId: workspace.id, origin: run.id }, { skip: 0, take: 100 })
  return items.filter(({ origin }) => origin?.kind === 'retry')
}

export interface VersionChoice {
  readonly version?: string
  readonly allowWiden?: boolean
  readonly allowYanked?: boolean
}

/**
 * The requested version, if the run may continue with it without further consent.
 * @returns undefined if none was requested
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
  const { snapshot } = version
  if (!allowYanked) refuseYankedExecution(version, 'Name another version, or add --allow-yanked.')
  const wider = own ? await findWider(services, own.snapshot, snapshot) : []
  if (wider && !allowWiden) throw fail('version_wider', { version: label, from: run.versionLabel, changes: wider })
  return version
}

/** @throws Failure `version_yanked` */
export function refuseYankedExecution({ snapshot, yanked, yankReason }: AgentVersion, fix: string): void {
  const { id, version } = snapshot
  if (yanked) throw fail('version_yanked', { id, version, reason: yankReason, act: 'executed' }, { fix })
}

/**
 * Of a concurrent retry and resumption one is refused, because both save the same version of the session. Of two retries,
 * the second finds the first still open.
 */
export const retryRun: OperatorAction<'POST /runs/:id/retry'> = async ({ services, operator, id, act }) => {
  const { store, engine, workspace, config } = services
  const retry = await untilUnchanged(async () => {
    const { run, seen } = await readEnded(services, id)
    const session = expectDefined(await store.session(run.sessionId), 'a run has a session')
    if (run.parentRunId !== null) throw fail('not_a_root_run', { runId: run.id, rootRunId: session.rootRunId })
    if (!isTerminal(run.status)) throw fail('run_not_ended', { runId: run.id, status: run.status })
    if (session.erasedAt !== undefined) throw fail('session_erased')
    const open = (await retriesOf(services, run)).find(({ status }) => !isTerminal(status))
    if (open) throw fail('run_not_repeatable', { runId: run.id, retry: open.id })
    const { metadata, tags } = session
    return engine.start({
      workspaceId: workspace.id,
      agentId: run.agentId,
      principal: operator,
      triggerType: 'operator',
      triggerId: null,
      triggerName: null,
      input: run.input,
      limits: startLimits(config),
      origin: { kind: 'retry', runId: run.id, sessionId: run.sessionId },
      act: act('run.retried', { subject: describeRun(run), run }),
      follows: { sessionId: run.sessionId, version: seen },
      ...(metadata && { metadata }),
      ...(tags && { tags }),
    })
  })
  return toRunView(services, await findRun(services, retry.runId))
}
