/**
 * What a save, a start or a deployment tells the channels: derived at one place from what is stored anyway, so that no part of the
 * engine knows of notices. Source: docs/design/notifications.md#the-outbox
 */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import { nameBasedId, type WorkspaceId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { splitRoles } from '../../spec/people/approver-role.ts'
import type { NoticeRouteConfig, NotifyConfig } from '../../spec/project/config.ts'
import type { NewNotice, NoticeEvent } from '../../spec/notice.ts'
import { followsTasks } from './channels.ts'
import { delayWhileQuiet } from './quiet-hours.ts'
import { PLAN_CAUSE } from '../../spec/run/outage.ts'
import { findHeld } from '../../spec/run/hold.ts'
import type { Run } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { SessionUpdate, SessionUpdateEvent } from '../../store/session-update.ts'

const DEFAULT_REMIND_BEFORE = '15m'
const DAY_MS = 86_400_000

/** Something that happened, before it is known who is told of it. */
export interface NoticeFact {
  readonly event: Exclude<NoticeEvent, 'notify.test'>
  /** Identifies the thing: a channel is told once of it. */
  readonly key: string
  readonly at: Instant
  readonly agent: string
  readonly workspaceId: WorkspaceId
  readonly sideEffectClass?: string
  readonly role?: string
  readonly data: JsonObject
  readonly run?: Pick<Run, 'id' | 'sessionId'>
  readonly task?: TaskRecord
}

/** @returns the notices of what an update records; the same array for most updates, which tell nothing */
export type DeriveNotices = (update: SessionUpdate) => readonly NewNotice[]

const NOTHING: readonly NewNotice[] = []

export function deriveNoticesFor(notify: NotifyConfig): DeriveNotices {
  const route = routeFacts(notify)
  return (update) => {
    let facts: NoticeFact[] | undefined
    for (const event of update.events) {
      if (!TOLD.has(event.subject)) continue
      facts ??= []
      facts.push(...factsOf(event, update))
    }
    return facts === undefined || facts.length === 0 ? NOTHING : route(facts)
  }
}

const TOLD: ReadonlySet<string> = new Set([
  ...['created', 'voted', 'completed', 'expired', 'cancelled'].map((each) => `engine.user_task.${each}`),
  'engine.run.failed',
  'engine.run.paused',
])

function factsOf(event: SessionUpdateEvent, update: SessionUpdate): readonly NoticeFact[] {
  const run = update.runs.find(({ id }) => id === event.runId)
  const origin = originOf(event, update, run)
  if (event.kind === 'user_task') {
    const task = update.tasks.find(({ id }) => id === taskIdOf(event))
    if (!task) return []
    const facts = factsOfTask(event, task, origin, run)
    return event.subject === 'engine.user_task.created' ? facts : [changeOfTask(event, task, origin), ...facts]
  }
  // The run that somebody started stands for those below it.
  if (!run || run.parentRunId !== null) return []
  return event.subject === 'engine.run.failed' ? factsOfFailure(run, origin) : factsOfHold(event, run, origin)
}

type Origin = Pick<NoticeFact, 'at' | 'agent' | 'workspaceId'> & {
  readonly run: Pick<Run, 'id' | 'sessionId'>
  readonly data: JsonObject
}

function originOf({ ts, runId }: SessionUpdateEvent, { session }: SessionUpdate, run: Run | undefined): Origin {
  const { agentName: agent, versionLabel } = run ?? session
  return {
    at: ts,
    agent,
    workspaceId: session.workspaceId,
    run: { id: runId, sessionId: session.id },
    data: { sessionId: session.id, runId, agent, versionLabel },
  }
}

/** The data of an event of a task is stored with it; that of a step is not needed here. */
function taskIdOf(event: SessionUpdateEvent): JsonValue | undefined {
  const task = 'data' in event ? event.data['task'] : undefined
  return isJsonObject(task) ? task['user_task_id'] : undefined
}

/** For the channels that draw a message of the task anew. */
const changeOfTask = ({ seq }: SessionUpdateEvent, task: TaskRecord, origin: Origin): NoticeFact => ({
  ...aboutTask(task, origin),
  event: 'task.changed',
  key: `task.changed ${task.id} ${seq}`,
  data: { ...origin.data, taskId: task.id },
})

const aboutTask = (task: TaskRecord, origin: Origin): Omit<NoticeFact, 'event' | 'key'> => {
  const { tool, approverRole } = task
  return {
    ...origin,
    task,
    ...(tool && { sideEffectClass: tool.side_effect_class ?? 'irreversible_action' }),
    ...(approverRole !== undefined && { role: approverRole }),
  }
}

function factsOfTask(
  { subject }: SessionUpdateEvent,
  task: TaskRecord,
  origin: Origin,
  run: Run | undefined,
): readonly NoticeFact[] {
  const { id, kind, tool, approverRole, approvalsRequired, expiresAt, onTimeout, answer } = task
  const about = aboutTask(task, origin)
  const data: JsonObject = {
    ...origin.data,
    taskId: id,
    kind,
    ...(tool && { tool: tool.ref, sideEffectClass: tool.side_effect_class }),
    ...(approverRole !== undefined && { role: approverRole }),
    ...(approvalsRequired !== undefined && { approvalsRequired }),
    ...(expiresAt !== undefined && { expiresAt: toIsoText(expiresAt) }),
    ...(onTimeout !== undefined && { onTimeout }),
  }
  if (subject === 'engine.user_task.created') {
    // A time-out may turn a task into another kind, which asks other people.
    const created: NoticeFact = { ...about, event: 'task.created', key: `task.created ${id} ${kind}`, data }
    const expiring: NoticeFact = {
      ...about,
      event: 'task.expiring',
      key: `task.expiring ${id} ${expiresAt ?? ''}`,
      data,
    }
    return [
      created,
      ...(expiresAt === undefined ? [] : [expiring]),
      ...(run?.state.at === 'held' && task.about === 'limit'
        ? [budgetFact(about, { ...data, limit: run.state.limit, outcome: 'asked' }, `task ${id}`)]
        : []),
    ]
  }
  if (subject === 'engine.user_task.voted') return []
  const outcome = answer?.outcome ?? task.status
  const decided = { ...data, outcome }
  return [
    { ...about, event: 'task.decided', key: `task.decided ${id}`, data: decided },
    ...(kind === 'anomaly_review'
      ? [
          {
            ...about,
            event: 'run.reviewed' as const,
            key: `run.reviewed ${id}`,
            data: { ...decided, ...reviewOf(task) },
          },
        ]
      : []),
  ]
}

/** What was said of the call: `happened`, `retry`, `skip` or `stop`. */
const reviewOf = ({ answer }: TaskRecord): JsonObject =>
  answer?.selectedOptionId === undefined ? {} : { review: answer.selectedOptionId }

const budgetFact = (about: Omit<NoticeFact, 'event' | 'key' | 'data'>, data: JsonObject, key: string): NoticeFact => ({
  ...about,
  event: 'budget.reached',
  key: `budget.reached ${key}`,
  data,
})

function factsOfFailure(run: Run, origin: Origin): readonly NoticeFact[] {
  // A run that is resumed may fail again.
  const key = `${run.id} ${run.usage.resumes ?? 0}`
  const data = { ...origin.data, errorCode: run.errorCode }
  return [
    { ...origin, event: 'run.failed', key: `run.failed ${key}`, data },
    ...(run.errorCode === 'limit_exceeded' ? [budgetFact(origin, { ...data, outcome: 'failed' }, `run ${key}`)] : []),
  ]
}

/** Holds that end by what the run itself waits for tell nobody anything. */
const OWN_WAITS: ReadonlySet<JsonValue | undefined> = new Set(['timer', 'signal', 'external'])

function factsOfHold(event: SessionUpdateEvent, run: Run, origin: Origin): readonly NoticeFact[] {
  const hold = 'data' in event ? event.data['hold'] : undefined
  if (!isJsonObject(hold) || OWN_WAITS.has(hold['reason'])) return []
  const { reason, since } = hold as { readonly reason: string; readonly since: string }
  const data = { ...origin.data, reason, since }
  const isPlan = findHeld(run.state)?.outage.cause === PLAN_CAUSE
  const day = new Date(origin.at - (origin.at % DAY_MS)).toISOString().slice(0, 10)
  return [
    { ...origin, event: 'run.held', key: `run.held ${run.id} ${reason} ${since}`, data },
    // Every run of the day meets the plan of the workspace; it is reached once.
    ...(isPlan ? [budgetFact(origin, { ...data, limit: 'plan', outcome: 'held' }, `plan ${day}`)] : []),
  ]
}

/** What a deployment tells. */
export function deriveDeploymentNotices(notify: NotifyConfig, fact: Omit<NoticeFact, 'event'>): readonly NewNotice[] {
  return routeFacts(notify)([{ ...fact, event: 'deployment.changed' }])
}

/** The notices of facts: one for each channel that a route names, however many routes name it. */
function routeFacts({ channels, routes, remind_before = DEFAULT_REMIND_BEFORE, quiet_hours: quiet }: NotifyConfig) {
  // The durations parse: the shape of the file was checked when it was read.
  const remindMs = parseDuration(remind_before)!
  const delay = delayWhileQuiet(quiet, remindMs)
  const known = routes.map((route) => toNoticeRoute(route))
  // Who is told of tasks by a channel that follows them sees what becomes of them, whatever the route names.
  const following = routes
    .filter(({ events }) => events.some((event) => event === 'task.created' || event === 'task.expiring'))
    .map((route) => ({ ...route, to: route.to.filter((name) => channels[name] && followsTasks(channels[name])) }))
    .filter(({ to }) => to.length > 0)
    .map(({ agents, classes, roles, to }) =>
      toNoticeRoute({
        events: ['task.changed'],
        to,
        ...(agents && { agents }),
        ...(classes && { classes }),
        ...(roles && { roles }),
      }),
    )
  return (facts: readonly NoticeFact[]): readonly NewNotice[] => {
    const notices = new Map<string, NewNotice>()
    for (const fact of facts)
      for (const route of [...known, ...following]) {
        if (!route.takes(fact)) continue
        const { event, at, task, run } = fact
        const expiresAt = task?.expiresAt ?? at
        const isCreation = event === 'task.created'
        const begun = isCreation ? at + route.afterMs : at
        const asksAt = event === 'task.expiring' ? Math.max(at, expiresAt - remindMs) : begun
        // Nobody is reminded of what has just been asked, nor told of what has expired.
        if (event === 'task.expiring' && asksAt === at) continue
        const dueAt = delay(event, asksAt, task?.expiresAt)
        for (const channel of route.to) {
          const id = nameBasedId('notice', fact.workspaceId, channel, fact.key)
          const earlier = notices.get(id)
          if (earlier && earlier.dueAt <= dueAt) continue
          notices.set(id, {
            id,
            workspaceId: fact.workspaceId,
            channel,
            event,
            at,
            dueAt,
            data: fact.data,
            sessionId: run?.sessionId ?? null,
            runId: run?.id ?? null,
            taskId: task?.id ?? null,
            whilePending: event === 'task.expiring' || (isCreation && dueAt > at),
          })
        }
      }
    return [...notices.values()]
  }
}

interface NoticeRoute {
  readonly to: readonly string[]
  readonly afterMs: number
  takes(fact: NoticeFact): boolean
}

function toNoticeRoute({
  events,
  agents,
  classes,
  roles,
  to,
  after,
}: Omit<NoticeRouteConfig, 'events'> & { readonly events: readonly NoticeEvent[] }): NoticeRoute {
  const [ofEvents, ofClasses] = [new Set<string>(events), classes && new Set<string>(classes)]
  return {
    to,
    afterMs: after === undefined ? 0 : parseDuration(after)!,
    takes: ({ event, agent, sideEffectClass, role }) =>
      ofEvents.has(event) &&
      (agents === undefined || agents.some((pattern) => fitsAgent(pattern, agent))) &&
      (ofClasses === undefined || (sideEffectClass !== undefined && ofClasses.has(sideEffectClass))) &&
      (roles === undefined || [role ?? '', ...splitRoles(role)].some((each) => roles.includes(each))),
  }
}

/** `namespace.name`, `namespace.*` or `*`, as routes of tools are written. */
export const fitsAgent = (pattern: string, agent: string): boolean =>
  pattern === '*' || pattern === agent || (pattern.endsWith('.*') && agent.startsWith(pattern.slice(0, -1)))
