/** Runs of all agents, driven with the operator's authority. The routes that read one run are those of `/v1`. */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { isUuid, type SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { RunView } from '../../spec/operator.ts'
import { isTerminal, isWaiting, type Run } from '../../spec/run.ts'
import { startLimits } from '../runtime/rates.ts'
import { checkFiles, toAnswer } from '../routes/messages.ts'
import type { ServerServices } from '../runtime/services.ts'
import { parseCancel, parseMessage, parsePage } from '../http/validate.ts'
import { readProperties } from './reader.ts'
import type { OperatorAction } from './act.ts'
import { notFoundFailure, findAgent, findRun } from './find.ts'
import { toEnding } from './ending.ts'

export const startRun: OperatorAction<'POST /runs'> = async ({ services, operator, body }) => {
  const check = readProperties(body)
  const reference = check.required('agent', check.text('agent', { min: 1, max: 300 }))
  const input = check.object('input') ?? {}
  const rehearsal = check.object('rehearsal')
  check.done()
  const agent = await findAgent(services, reference!)
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
    limits: startLimits(services.config),
  })
  if (sessionId) start.catch(() => services.rehearsals.forget(sessionId))
  return start
}

function rehearse({ development, ids, rehearsals }: ServerServices, body: JsonObject): SessionId {
  if (!development)
    throw fail(
      'validation_failed',
      { what: 'Only svc dev runs with another model, records or replays.' },
      { fix: 'Start svc dev.' },
    )
  const check = readProperties(body)
  const path = (name: 'record' | 'replay') => check.text(name, { min: 1, max: 4096 })
  const [model, record, replay] = [check.text('model', { min: 3, max: 300 }), path('record'), path('replay')]
  check.done()
  const sessionId = ids.next<'session'>() as SessionId
  rehearsals.open(sessionId, {
    ...(model !== undefined && { model }),
    ...(record !== undefined && { record }),
    ...(replay !== undefined && { replay }),
  })
  return sessionId
}

export const listRuns: OperatorAction<'GET /runs'> = async ({ services, query }) => {
  const { store, workspace } = services
  const ending = query.get('ending')
  if (ending !== null) {
    const runs = await store.runsEndingWith(workspace.id, toEnding(ending), 20)
    return { items: await Promise.all(runs.map((run) => toRunView(services, run))), total: runs.length }
  }
  const page = parsePage(query)
  const agent = query.get('agent')
  const session = query.get('session')
  const status = query.get('status')
  const since = query.get('since')
  const { items, total } = await store.runs(
    {
      workspaceId: workspace.id,
      ...(agent !== null && { agentId: (await findAgent(services, agent)).id }),
      ...(session !== null && { sessionId: parseSession(session) }),
      ...(status !== null && { status: status.split(',') }),
      ...(query.get('waiting') === 'true' && { waiting: true }),
      ...(since !== null && { since: parseSince(since) }),
    },
    page,
  )
  return { items: await Promise.all(items.map((run) => toRunView(services, run))), total }
}

export const cancelRun: OperatorAction<'POST /runs/:id/cancel'> = async ({ services, operator, id, body }) => {
  const { reason } = parseCancel(body)
  const run = await findRun(services, id)
  const { status } = await services.engine.cancel(run.id, operator, reason)
  return { runId: run.id, before: run.status, after: status }
}

/**
 * The message's body; `runId` may be left out. `as` must be the identity that the request already has: approvers are counted
 * by their credential, and a name that anyone may type is none. Source: command line, `svc approve`.
 */
export const sendMessage: OperatorAction<'POST /runs/:id/messages'> = async ({
  services,
  operator,
  proved,
  id,
  body,
}) => {
  const run = await findRun(services, id)
  const check = readProperties(body)
  const as = check.text('as', { min: 1, max: 300 })
  check.done()
  const message = parseMessage({ runId: run.id, ...(body as object) }, run.id)
  const same = as === undefined || as === operator.id || (proved && as.toLowerCase() === operator.id)
  if (!same && (proved || !services.development)) {
    const { code, message: error } = fail('not_an_approver', { why: `the request is not by ${as}` })
    return { status: run.status, error, code }
  }
  await checkFiles(services, services.workspace.id, message.files ?? [])
  return services.engine.answer(run.id, toAnswer(message, same ? operator : { ...operator, id: as }))
}

export async function toRunView(services: ServerServices, run: Run): Promise<RunView> {
  const { store } = services
  const session = await store.session(run.sessionId)
  const waitingOn = isWaiting(run.status) ? await waitOf(services, run) : undefined
  const heldAt = isTerminal(run.status) ? undefined : await store.restoredAt(run.sessionId)
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
    trigger: session?.triggerName ?? session?.triggerType ?? 'operator',
    ...(waitingOn !== undefined && { waitingOn }),
    ...(heldAt !== undefined && { hold: { reason: 'restored', since: toIsoText(heldAt) } }),
  }
}

/** The oldest pending task of the run, else of its session: an ancestor waits for what its descendant waits for. */
async function waitOf({ store }: ServerServices, run: Run): Promise<string | undefined> {
  if (run.status === 'WaitingForResponse') return 'reply'
  const pending = (await store.tasksOfSession(run.sessionId)).filter(({ status }) => status === 'pending')
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
  if (Number.isNaN(since))
    throw fail(
      'validation_failed',
      { what: 'The query is not valid.' },
      { details: [{ path: '/since', message: 'must be a time' }] },
    )
  return since
}
