/** Which events tell which channels. Source: docs/design/notifications.md#routes */
import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { NoticeRouteConfig, NotifyConfig } from '../../../src/spec/project/config.ts'
import { NOTICE_EVENTS } from '../../../src/spec/notice.ts'
import type { Run } from '../../../src/spec/run/run.ts'
import type { TaskRecord } from '../../../src/spec/task.ts'
import { deriveNoticesFor, fitsAgent } from '../../../src/server/notify/derive-notices.ts'
import { PLAN_CAUSE } from '../../../src/spec/run/outage.ts'
import type { SessionUpdate } from '../../../src/store/session-update.ts'
import { aRun, aSession, aTask, anUpdate, NOW } from '../../store/makers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const session = aSession('a')
const EVERY: NoticeRouteConfig = { events: NOTICE_EVENTS, to: ['hook'] }
const config = (...routes: NoticeRouteConfig[]): NotifyConfig => ({
  channels: { hook: { command: ['true'] }, mail: { command: ['true'] } },
  routes,
})

const task = (about: Partial<TaskRecord> = {}): TaskRecord =>
  aTask(session, 'a', {
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: 'irreversible_action' },
    approverRole: 'finance',
    expiresAt: NOW + HOUR,
    ...about,
  })

const update = (
  subject: string,
  { tasks = [], run = {}, data = {} }: { tasks?: TaskRecord[]; run?: Partial<Run>; data?: object } = {},
): SessionUpdate => ({
  ...anUpdate(session, { tasks, runs: [aRun(session, run)] }),
  events: [
    {
      sessionId: session.id,
      seq: 1,
      runId: session.rootRunId,
      ts: NOW,
      kind: subject.startsWith('engine.user_task') ? 'user_task' : 'run',
      subject,
      data: { ...(tasks[0] && { task: { user_task_id: tasks[0].id } }), ...data } as never,
    },
  ],
})

const outage = { reason: 'quota_spent', cause: PLAN_CAUSE, since: NOW, failures: 1 } as const
const hold = (reason: string) => ({ hold: { reason, since: '2026-01-02T03:04:05.000Z' } })

/** What an update tells, as `event` and what its data has beside ids and names. */
const CASES: readonly (readonly [string, SessionUpdate, readonly string[]])[] = [
  ['a task that expires', update('engine.user_task.created', { tasks: [task()] }), ['task.created', 'task.expiring']],
  [
    'a task without a deadline',
    update('engine.user_task.created', { tasks: [{ ...task(), expiresAt: undefined as never }] }),
    ['task.created'],
  ],
  ['a vote that decides nothing', update('engine.user_task.voted', { tasks: [task()] }), []],
  [
    'a decision',
    update('engine.user_task.completed', { tasks: [task({ status: 'completed', answer: { outcome: 'approved' } })] }),
    ['task.decided'],
  ],
  ['a time-out', update('engine.user_task.expired', { tasks: [task({ status: 'expired' })] }), ['task.decided']],
  [
    'a cancelled task',
    update('engine.user_task.cancelled', { tasks: [task({ status: 'cancelled' })] }),
    ['task.decided'],
  ],
  [
    'a review',
    update('engine.user_task.completed', {
      tasks: [
        task({
          kind: 'anomaly_review',
          status: 'completed',
          answer: { outcome: 'answered', selectedOptionId: 'skip' },
        }),
      ],
    }),
    ['task.decided', 'run.reviewed'],
  ],
  [
    'a limit about which an operator is asked',
    update('engine.user_task.created', {
      tasks: [task({ kind: 'escalation', about: 'limit', expiresAt: undefined as never })],
      run: {
        state: {
          at: 'held',
          task: task().id,
          limit: 'max_tokens_per_run',
          // oxlint-disable-next-line unicorn/no-thenable -- a field of the state; no state is ever awaited
          then: { at: 'thinking', turn: 1, attempt: 1 },
        },
      },
    }),
    ['task.created', 'budget.reached'],
  ],
  ['a failure', update('engine.run.failed', { run: { errorCode: 'model_error', status: 'Failed' } }), ['run.failed']],
  [
    'a failure over a limit',
    update('engine.run.failed', { run: { errorCode: 'limit_exceeded', status: 'Failed' } }),
    ['run.failed', 'budget.reached'],
  ],
  [
    'the failure of a sub-agent',
    update('engine.run.failed', { run: { errorCode: 'model_error', parentRunId: session.rootRunId } }),
    [],
  ],
  ['an outage', update('engine.run.paused', { data: hold('tool_unreachable') }), ['run.held']],
  ['a pause by an operator', update('engine.run.paused', { data: hold('paused') }), ['run.held']],
  ['a wait for a time', update('engine.run.paused', { data: hold('timer') }), []],
  ['a wait for a person', update('engine.run.paused'), []],
  [
    'the plan of the day',
    update('engine.run.paused', {
      data: hold('quota_spent'),
      run: { state: { at: 'backing_off', turn: 1, attempt: 1, until: NOW + HOUR, outage } },
    }),
    ['run.held', 'budget.reached'],
  ],
  ['a completion', update('engine.run.completed', { run: { status: 'Completed' } }), []],
]

describe.each(CASES)('%s', (_, change, events) => {
  test(`tells ${events.join(', ') || 'nothing'}, and each once`, () => {
    const derive = deriveNoticesFor(config(EVERY, EVERY, { ...EVERY, to: ['hook'] }))
    expect(derive(change).map(({ event }) => event)).toEqual(events)
    // The same change gives the same ids, whoever derives them.
    expect(derive(change)).toEqual(deriveNoticesFor(config(EVERY))(change))
  })

  test('tells nothing that a route does not name', () => {
    for (const event of NOTICE_EVENTS) {
      const told = deriveNoticesFor(config({ events: [event], to: ['mail'] }))(change)
      expect(told.map((each) => [each.event, each.channel])).toEqual(
        events.filter((each) => each === event).map(() => [event, 'mail']),
      )
    }
  })
})

test('carries ids, names and classes, and no text of a person, a model or a tool', () => {
  const words = 'a secret of the customer'
  const full = task({
    title: words,
    prompt: words,
    reason: words,
    summary: words,
    reasoning: words,
    arguments: { note: words },
    context: { note: words },
    answer: { outcome: 'approved', comment: words, textValue: words, completedBy: 'operator:ana@acme.example' },
  })
  for (const [, change] of CASES) {
    const told = { ...change, tasks: change.tasks.map((each) => ({ ...full, ...each, title: words })) }
    const run = aRun(session, { ...change.runs[0]!, error: words, output: words })
    const notices = deriveNoticesFor(config(EVERY))({ ...told, runs: [run] })
    expect(JSON.stringify(notices)).not.toMatch(/secret|ana@/)
  }
  expect(deriveNoticesFor(config(EVERY))(update('engine.user_task.created', { tasks: [full] }))[0]!.data).toEqual({
    sessionId: session.id,
    runId: session.rootRunId,
    agent: 'pay.clerk',
    versionLabel: '1.0.0',
    taskId: full.id,
    kind: 'approval',
    tool: 'pay.refunds',
    sideEffectClass: 'irreversible_action',
    role: 'finance',
    approvalsRequired: 2,
    expiresAt: new Date(NOW + HOUR).toISOString(),
  })
})

test.each<[string, Partial<NoticeRouteConfig>, boolean]>([
  ['its agent', { agents: ['pay.clerk'] }, true],
  ['its namespace', { agents: ['pay.*'] }, true],
  ['another agent', { agents: ['pay.clerks', 'payment.*', 'pay'] }, false],
  ['its class', { classes: ['irreversible_action'] }, true],
  ['another class', { classes: ['read_only'] }, false],
  ['its role', { roles: ['legal', 'finance'] }, true],
  ['another role', { roles: ['legal'] }, false],
])('a route for %s', (_, about, isTold) => {
  const change = update('engine.user_task.created', { tasks: [task()] })
  const told = deriveNoticesFor(config({ events: ['task.created'], to: ['hook'], ...about }))(change)
  expect(told.length > 0).toBe(isTold)
})

test('a route with classes or roles is for tasks alone', () => {
  const failed = update('engine.run.failed', { run: { errorCode: 'model_error' } })
  for (const about of [{ classes: ['irreversible_action' as const] }, { roles: ['finance'] }])
    expect(deriveNoticesFor(config({ ...EVERY, ...about }))(failed)).toEqual([])
})

test('reminds before the deadline, never of what was asked just now, and escalates what still waits', () => {
  const dueOf = (expiresAt: number, ...routes: NoticeRouteConfig[]) =>
    deriveNoticesFor(config(...routes))(update('engine.user_task.created', { tasks: [task({ expiresAt })] })).map(
      ({ event, dueAt, whilePending, channel }) => [event, channel, dueAt - NOW, whilePending],
    )
  expect(dueOf(NOW + HOUR, { events: ['task.expiring'], to: ['hook'] })).toEqual([
    ['task.expiring', 'hook', 45 * MINUTE, true],
  ])
  expect(dueOf(NOW + 10 * MINUTE, { events: ['task.expiring'], to: ['hook'] })).toEqual([])
  const escalation = { events: ['task.created'], to: ['mail'], after: '30m' } as const
  expect(dueOf(NOW + HOUR, escalation)).toEqual([['task.created', 'mail', 30 * MINUTE, true]])
  // Of two routes to one channel the earlier one counts.
  for (const routes of [
    [escalation, { events: ['task.created'], to: ['mail'] }],
    [{ events: ['task.created'], to: ['mail'] }, escalation],
  ] as NoticeRouteConfig[][])
    expect(dueOf(NOW + HOUR, ...routes)).toEqual([['task.created', 'mail', 0, false]])
})

test('a channel that follows tasks hears of every change of those that it is told of, and of no others', () => {
  const slack = { token: { fromEnv: 'TOKEN' }, channel: 'C0FINANCE' }
  const channels = { chat: { slack }, hook: { command: ['true'] } }
  const eventsOf = (subject: string, about: Partial<NoticeRouteConfig> = {}) =>
    deriveNoticesFor({ channels, routes: [{ events: ['task.created'], to: ['chat', 'hook'], after: '5m', ...about }] })(
      update(subject, { tasks: [task()] }),
    ).map(({ event, channel, dueAt, whilePending }) => [event, channel, dueAt - NOW, whilePending])
  for (const what of ['voted', 'completed', 'expired', 'cancelled'])
    expect(eventsOf(`engine.user_task.${what}`)).toEqual([['task.changed', 'chat', 0, false]])
  expect(eventsOf('engine.user_task.created')).toEqual([
    ['task.created', 'chat', 5 * MINUTE, true],
    ['task.created', 'hook', 5 * MINUTE, true],
  ])
  expect(eventsOf('engine.user_task.voted', { roles: ['legal'] })).toEqual([])
  expect(eventsOf('engine.user_task.completed', { events: ['task.decided'] }).map(([event]) => event)).toEqual([
    'task.decided',
    'task.decided',
  ])
  expect(eventsOf('engine.run.failed')).toEqual([])
})

test('a pattern fits an agent as the names say, for any names', () => {
  const name = fc.stringMatching(/^[a-z]{1,6}$/)
  fc.assert(
    fc.property(name, name, name, (namespace, agent, other) => {
      const full = `${namespace}.${agent}`
      expect([fitsAgent('*', full), fitsAgent(full, full), fitsAgent(`${namespace}.*`, full)]).toEqual([
        true,
        true,
        true,
      ])
      expect(fitsAgent(`${other}.*`, full)).toBe(other === namespace)
      expect(fitsAgent(`${namespace}.${other}`, full)).toBe(other === agent)
    }),
  )
})

test('what can wait is due when quiet hours end', () => {
  const end = Math.ceil((NOW + 1) / HOUR) * HOUR + HOUR
  const clock = (at: number): string => new Date(at).toISOString().slice(11, 16)
  const quiet = { from: clock(NOW - HOUR), to: clock(end) }
  const derive = deriveNoticesFor({ ...config(EVERY), quiet_hours: quiet })
  const decided = update('engine.user_task.completed', { tasks: [task({ status: 'completed' })] })
  expect(derive(decided).map(({ event, at, dueAt }) => ({ event, at, dueAt }))).toEqual([
    { event: 'task.decided', at: NOW, dueAt: end },
  ])
})
