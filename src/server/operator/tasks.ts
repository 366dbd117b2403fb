/**
 * The inbox: user tasks, and runs that wait for a reply as if they were tasks.
 * Source: docs/design/approvals.md#the-task
 */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { digestOfJson } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { isUuid, type AgentId, type RunId, toEnding } from '../../base/ids.ts'
import type { InboxItem } from '../../operations/tasks.ts'
import type { Run } from '../../spec/run/run.ts'
import { countApprovals, isOperatorOnly, type TaskPeople, type TaskRecord } from '../../spec/task.ts'
import { describeCause } from '../../view/task/task-subject.ts'
import { readInboxItem, toTaskContent } from '../../view/task/task-content.ts'
import { describeTaskView } from '../../view/task/task-view.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorPrincipal } from '../auth/auth.ts'
import type { OperatorAction } from './people/act.ts'
import { createPeopleReader } from './people/task-people.ts'
import { notFoundFailure, findAgent, taskById } from './find/find.ts'
import { compareText } from '../../base/values/compare-text.ts'
import { describeRun } from '../acts/act-subjects.ts'

/** More than anyone answers. */
const MOST = 1000

const MOST_SIMILAR = 20

/** Oldest deadline first, then oldest task. */
export const listTasks: OperatorAction<'GET /tasks'> = async ({ services, operator: you, query }) => {
  const { all = false, operator: operatorOnly = false, ending } = query
  if (ending !== undefined) {
    const tasks = await services.store.tasksEndingWith(services.workspace.id, toEnding(ending), 20)
    const items = await withRuns(
      services,
      you,
      tasks.filter(({ status }) => all || status === 'pending'),
    )
    return { items, total: items.length }
  }
  const agentId = query.agent === undefined ? undefined : (await findAgent(services, query.agent)).id
  const kinds = query.kind?.split(',')
  const wanted = (kind: TaskRecord['kind']) =>
    (!kinds || kinds.includes(kind)) && (!operatorOnly || isOperatorOnly(kind))
  const filter = { workspaceId: services.workspace.id, ...(agentId !== undefined && { agentId }), all }
  const tasks = (await services.store.tasks(filter, { skip: 0, take: MOST })).items.filter(({ kind }) => wanted(kind))
  const replies = operatorOnly || (kinds && !kinds.includes('reply')) ? [] : await listReplies(services, agentId)
  const items = [...(await withRuns(services, you, tasks)), ...replies].sort(byDeadline)
  return { items, total: items.length }
}

/** A task by its id; a run's id names the reply that it waits for. */
export const getTask: OperatorAction<'GET /tasks/:id'> = async ({ services, operator, id }) => {
  const found = await taskById(services, id)
  if (found) {
    const describe = await createPeopleReader(services, operator)
    return toInboxItem(found.task, found.run, await describe(found.task, found.run))
  }
  const run = isUuid(id) ? await services.store.run(id as RunId) : undefined
  if (run?.workspaceId === services.workspace.id && run.status === 'WaitingForResponse') return toReply(run)
  throw notFoundFailure('user task')
}

/** The digest of what a task shows to this operator; undefined where the workspace has no such task. */
export async function viewDigestOf(
  services: ServerServices,
  operator: OperatorPrincipal,
  taskId: string,
): Promise<string | undefined> {
  const found = await taskById(services, taskId)
  if (!found) return undefined
  const describe = await createPeopleReader(services, operator)
  const item = toInboxItem(found.task, found.run, await describe(found.task, found.run))
  return digestOfJson(describeTaskView(readInboxItem(item)))
}

export const listSimilarTasks: OperatorAction<'GET /tasks/:id/similar'> = async ({ services, operator, id }) => {
  const found = await taskById(services, id)
  if (!found) throw notFoundFailure('user task')
  const { tool } = found.task
  const filter = { workspaceId: services.workspace.id, agentId: found.run.agentId, all: true }
  const tasks = tool ? (await services.store.tasks(filter, { skip: 0, take: MOST })).items : []
  const similar = tasks
    .filter((each) => each.status !== 'pending' && each.id !== id && each.tool?.ref === tool?.ref)
    .sort((a, b) => (b.completedAt ?? b.createdAt) - (a.completedAt ?? a.createdAt))
  return { items: await withRuns(services, operator, similar.slice(0, MOST_SIMILAR)), total: similar.length }
}

/** Lifetime of a claim: after this time it no longer counts. */
const CLAIM_MS = 15 * 60_000

export const claimTask: OperatorAction<'POST /tasks/:id/claim'> = async ({ services, operator, id, body }) => {
  const { store, clock, workspace, changes } = services
  const found = await taskById(services, id)
  if (!found) throw notFoundFailure('user task')
  const { task, run } = found
  const identity = `operator:${operator.id}`
  if (body.leave === true) await store.endTaskClaim(task, identity)
  else {
    if (task.status !== 'pending') throw fail('task_already_completed')
    const at = clock.now()
    const claim = { workspaceId: workspace.id, taskId: task.id, operator: identity, at, until: at + CLAIM_MS }
    await store.putTaskClaim(claim, task)
  }
  changes.tell(task.sessionId)
  const describe = await createPeopleReader(services, operator)
  return toInboxItem(task, run, await describe(task, run))
}

export const probeTask: OperatorAction<'POST /tasks/:id/probe'> = async ({ services, operator, id, call, act }) => {
  const found = await taskById(services, id)
  if (!found) throw notFoundFailure('user task')
  // Before the probe asks outside: it may not come back.
  const probing = act('task.probed', { subject: `task ${found.task.id} of ${describeRun(found.run)}`, run: found.run })
  await services.store.addAct(probing)
  const { durationMs: _, ...probed } = await services.engine.probe(found.task.id, operator, call.request.signal)
  return { userTaskId: found.task.id, ...probed }
}

async function withRuns(
  services: ServerServices,
  you: OperatorPrincipal,
  tasks: readonly TaskRecord[],
): Promise<InboxItem[]> {
  const items: InboxItem[] = []
  if (tasks.length === 0) return items
  const describe = await createPeopleReader(services, you)
  for (const task of tasks) {
    const run = await services.store.run(task.runId)
    if (run) items.push(toInboxItem(task, run, await describe(task, run)))
  }
  return items
}

async function listReplies({ store, workspace }: ServerServices, agentId: AgentId | undefined): Promise<InboxItem[]> {
  const filter = {
    workspaceId: workspace.id,
    ...(agentId !== undefined && { agentId }),
    status: ['WaitingForResponse'],
  }
  return (await store.runs(filter, { skip: 0, take: MOST })).items.map(toReply)
}

const byDeadline = (a: InboxItem, b: InboxItem): number =>
  compareText(a.expiresAt ?? '~', b.expiresAt ?? '~') || compareText(a.createdAt, b.createdAt)

function toInboxItem(task: TaskRecord, run: Run, people: TaskPeople): InboxItem {
  const content = toTaskContent(task)
  return {
    userTaskId: task.id,
    kind: task.kind,
    runId: task.runId,
    sessionId: task.sessionId,
    agent: run.agentName,
    ...(task.tool && { tool: task.tool.ref }),
    ...(task.arguments !== undefined && { args: task.arguments }),
    ...(task.argumentsDigest !== undefined && { argsDigest: task.argumentsDigest }),
    why: describeCause(task),
    reason: task.reason ?? null,
    ...(task.options && { options: task.options }),
    approvals: {
      have: countApprovals(task),
      need: task.approvalsRequired ?? 1,
      by: task.votes.filter((vote) => vote.approved).map((vote) => vote.approver),
    },
    createdAt: toIsoText(task.createdAt),
    expiresAt: isoOrNull(task.expiresAt),
    onTimeout: task.onTimeout ?? null,
    apiCompletable: content.completable_via.includes('api'),
    status: task.status,
    task: task.worker === undefined ? content : { ...content, context: { ...content.context, worker: task.worker } },
    people,
  }
}

/** A run that waits for a reply has no task, so its id stands for one. */
function toReply(run: Run): InboxItem {
  return {
    userTaskId: run.id,
    kind: 'reply',
    runId: run.id,
    sessionId: run.sessionId,
    agent: run.agentName,
    why: questionOf(run) ?? 'The run waits for a reply.',
    reason: null,
    approvals: { have: 0, need: 0, by: [] },
    createdAt: toIsoText(run.usage.waitingSince ?? run.startedAt),
    expiresAt: null,
    onTimeout: null,
    apiCompletable: true,
    status: 'pending',
  }
}

function questionOf({ state }: Run): string | undefined {
  const call = state.at === 'calling' ? state.calls.find((each) => each.state.at === 'listening') : undefined
  const message = (call?.arguments as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : undefined
}
