/** Runs of all agents, driven with the operator's authority. The routes that read one run are those of `/v1`. */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail, Failure } from '../../base/failure.ts'
import { foldIdentity } from '../../base/identity.ts'
import { readHold } from '../view/hold.ts'
import { isUuid, type RunId, type SessionId, toEnding } from '../../base/ids.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { RehearsalOptions, RunView } from '../../operations/runs.ts'
import { isWaiting, originFields, type Run } from '../../spec/run/run.ts'
import { VIEW_DIGEST } from '../../view/task/task-view.ts'
import { startLimits } from '../runtime/rates.ts'
import { logNamedVersion } from '../routes/start-run.ts'
import { checkMessageFiles, nameConsole, toAnswer } from '../routes/messages.ts'
import { describeAnswer, describeRun, recordRefusedAnswer } from '../acts/act-subjects.ts'
import type { ServerServices } from '../runtime/services.ts'
import { originOf } from '../auth/auth.ts'
import { queryFailure } from '../http/refuse.ts'
import { pageOf, parseMessage } from '../http/validate.ts'
import type { OperatorAction } from './people/act.ts'
import { notFoundFailure, findAgent, findRun, findVersion } from './find/find.ts'
import { previewOf, searchRuns } from './find/run-search.ts'
import { viewDigestOf } from './tasks.ts'
import { provedOrigin } from './people/passkey-approval.ts'

export const startRun: OperatorAction<'POST /runs'> = async ({ services, operator, body, act }) => {
  const { input = {}, rehearsal, version } = body
  const agent = await findAgent(services, body.agent)
  const named = version === undefined ? undefined : await findVersion(services, agent, version)
  const sessionId = rehearsal && rehearse(services, rehearsal)
  const start = services.engine.start({
    ...(sessionId && { sessionId }),
    workspaceId: services.workspace.id,
    agentId: agent.id,
    principal: operator,
    triggerType: 'operator',
    triggerId: null,
    triggerName: null,
    input,
    ...(named && { versionId: named.id }),
    limits: startLimits(services.config),
    act: act('run.started', { subject: `run of ${agent.name}`, after: { version: version ?? null } }),
  })
  if (sessionId) start.catch(() => services.rehearsals.forget(sessionId))
  const started = await start
  if (version !== undefined) logNamedVersion(services, started.runId as RunId, version, operator)
  return started
}

function rehearse({ development, ids, rehearsals }: ServerServices, options: RehearsalOptions): SessionId {
  if (!development)
    throw fail(
      'validation_failed',
      { what: 'Only svc dev runs with another model, records or replays.' },
      { fix: 'Start svc dev.' },
    )
  const { model, record, replay } = options
  const sessionId = ids.next<'session'>() as SessionId
  rehearsals.open(sessionId, {
    ...(model !== undefined && { model }),
    ...(record !== undefined && { record }),
    ...(replay !== undefined && { replay }),
  })
  return sessionId
}

export const listRuns: OperatorAction<'GET /runs'> = async ({ services, query }) => {
  const { store, workspace, clock } = services
  const { ending, agent, session, status, waiting, since, until, sort, minDuration, minTokens, minCost } = query
  if (ending !== undefined) {
    const runs = await store.runsEndingWith(workspace.id, toEnding(ending), 20)
    return { items: await Promise.all(runs.map((run) => toRunView(services, run))), total: runs.length }
  }
  const filter = {
    workspaceId: workspace.id,
    ...(agent !== undefined && { agentId: (await findAgent(services, agent)).id }),
    ...(session !== undefined && { sessionId: parseSession(session) }),
    ...(status !== undefined && { status: status.split(',') }),
    ...(waiting && { waiting: true }),
    ...(since !== undefined && { since: parseSince(since) }),
    ...(until !== undefined && { until: parseSince(until) }),
    ...(sort !== undefined && { sort }),
    ...(minDuration !== undefined && { minDurationMs: minDuration }),
    ...(minTokens !== undefined && { minTokens }),
    ...(minCost !== undefined && { minCost: Number(minCost) }),
    now: clock.now(),
  }
  const { items, total } = await searchRuns(services, filter, query, pageOf(query))
  const views = items.map(async (run) => ({
    ...(await toRunView(services, run)),
    ...(query.preview && { inputPreview: previewOf(run.input) }),
  }))
  return { items: await Promise.all(views), total }
}

export const cancelRun: OperatorAction<'POST /runs/:id/cancel'> = async ({ services, operator, id, body, act }) => {
  const { reason } = body
  const run = await findRun(services, id)
  const { status } = await services.engine.cancel(
    run.id,
    operator,
    reason,
    act('run.cancelled', { subject: describeRun(run), reason, run }),
  )
  return { runId: run.id, before: run.status, after: status }
}

/**
 * The message's body; `runId` may be left out. `as` must be the identity that the request already has: approvers are counted
 * by their credential, and a name that anyone may type is none. `svc dev` takes the name of somebody without a credential as a
 * claim, which counts where one approval of anybody is enough. Source: docs/design/approvals.md#the-card
 */
export const sendMessage: OperatorAction<'POST /runs/:id/messages'> = async ({
  services,
  operator,
  consoleSession,
  id,
  body,
  act,
}) => {
  const run = await findRun(services, id)
  const { as, passkey, ...given } = body
  const message = parseMessage({ runId: run.id, ...given }, run.id)
  const same = as === undefined || foldIdentity(as) === foldIdentity(operator.id)
  const by = same ? operator : ({ ...operator, id: as, proof: 'claimed' } as const)
  const about = describeAnswer(run, message)
  const refuse = (failure: Failure) => recordRefusedAnswer(services, act, about, refuseMessage(run, failure))
  if (!same && (operator.proof === 'credential' || !services.development))
    return refuse(fail('not_an_approver', { why: `the request is not by ${as}` }))
  if (!same && (await ownsCredential(services, as)))
    return refuse(fail('not_an_approver', { why: `${as} has a credential, and the request does not carry it` }))
  const seen = message.metadata?.[VIEW_DIGEST]
  if (seen !== undefined && message.userTaskId !== undefined) {
    // Arguments that are edited between this check and the vote are refused by their own digest, in the vote's transaction.
    const view = await viewDigestOf(services, operator, message.userTaskId)
    if (view !== undefined && view !== seen) return refuse(fail('stale_view'))
  }
  await checkMessageFiles(services, services.workspace.id, message.files ?? [])
  const caller = originOf(by, { ...(consoleSession && { consoleSession }) })
  const origin = passkey === undefined ? caller : await provedOrigin(services, by, caller, message, passkey)
  if (origin instanceof Failure) return refuse(origin)
  const answered = { ...act('run.answered', about), by: approverOf(by), proof: by.proof }
  const accepted = await services.engine.answer(run.id, toAnswer(message, by, origin), undefined, undefined, answered)
  return recordRefusedAnswer(services, act, about, nameConsole(services, accepted))
}

async function ownsCredential({ store, workspace, clock }: ServerServices, name: string): Promise<boolean> {
  const now = clock.now()
  const keys = await store.operatorKeys(workspace.id)
  return keys.some(
    ({ email, revokedAt, expiresAt }) =>
      foldIdentity(email) === foldIdentity(name) && revokedAt === null && (expiresAt === null || expiresAt > now),
  )
}

const refuseMessage = ({ status }: Run, { message: error, code }: Failure) => ({ status, error, code })

export async function toRunView(services: ServerServices, run: Run): Promise<RunView> {
  const { store } = services
  const starter = run.starter ?? (await store.session(run.sessionId))
  const waitingOn = isWaiting(run.status) ? await waitOf(services, run) : undefined
  const hold = await readHold(services, run)
  return {
    runId: run.id,
    sessionId: run.sessionId,
    agent: run.agentName,
    versionLabel: run.versionLabel,
    status: run.status,
    depth: run.depth,
    parentRunId: run.parentRunId,
    startedAt: toIsoText(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    totalTokensUsed: run.usage.inputTokens + run.usage.outputTokens,
    ...(run.usage.cost && { cost: run.usage.cost }),
    trigger: starter?.triggerName ?? starter?.triggerType ?? 'operator',
    ...(waitingOn !== undefined && { waitingOn }),
    ...(hold && { hold }),
    ...originFields(run),
  }
}

/** The oldest pending task of the run, else of its session: an ancestor waits for what its descendant waits for. */
async function waitOf({ store }: ServerServices, run: Run): Promise<string | undefined> {
  if (run.status === 'WaitingForResponse') return 'reply'
  const pending = await store.pendingTasks(run.sessionId)
  const task = pending.find(({ runId }) => runId === run.id) ?? pending[0]
  return task && (task.tool ? `${task.kind}: ${task.tool.ref}` : task.kind)
}

function parseSession(text: string): SessionId {
  if (!isUuid(text)) throw notFoundFailure('session')
  return text.toLowerCase() as SessionId
}

/** Milliseconds since the epoch, or anything `Date.parse` reads. */
export function parseSince(text: string): number {
  const since = /^\d+$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(since)) throw queryFailure('/since', 'must be a time')
  return since
}
