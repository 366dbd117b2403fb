/** An example of each move of a call: a call as it is, and what happens to its run. */
import { digestOfJson } from '../../src/base/digest.ts'
import { versionIdOf, type RunId, type SessionId, type TaskId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { escalateQuestion } from '../../src/engine/calls/questions.ts'
import { advanceRun } from '../../src/engine/machine/advance.ts'
import { expireTask } from '../../src/engine/machine/tasks.ts'
import type { RunTransitionEvent } from '../../src/engine/session/event.ts'
import { openTransaction } from '../../src/engine/transaction/open-transaction.ts'
import type { RunHandle } from '../../src/engine/transaction/transaction.ts'
import { contextOf, firstSession, newRootRun } from '../../src/engine/start.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { CallState, RunState, ToolCall } from '../../src/spec/run/run.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import { COMPLETION } from '../../src/spec/steer/wait.ts'
import type { TaskAnswer, TaskRecord } from '../../src/spec/task.ts'
import { HELD_BACK } from '../../src/tools/outcome.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import { boundAgent, openBench, policy, returns, snapshotOf, T0, tool } from './bench.ts'

interface CallMoveExample {
  /** As the call is. Its tool is `pay`, which only reads where nothing else is said. */
  readonly from: CallState
  readonly call?: Partial<Omit<ToolCall, 'state'>>
  readonly tool?: Partial<BoundTool>
  readonly policy?: Partial<PolicyEntry>
  readonly isUnhandled?: true
  /** Another run tries for all that wait for the same cause. */
  readonly triesElsewhere?: true
  readonly event: RunTransitionEvent | ((run: RunHandle) => void)
}

const HOUR = 3600_000
const unsafe: Partial<BoundTool> = { sideEffectClass: 'irreversible_action' }
const safe: Partial<BoundTool> = { sideEffectClass: 'idempotent_write' }
const external: Partial<BoundTool> = { labels: { [COMPLETION]: 'external' } }
const asks = (trigger: string): Partial<PolicyEntry> => ({
  when: { field: 'svc.dispatch.trigger', op: 'eq', value: trigger },
})
/** An earlier attempt may have been made, and the tool has forgotten its key. */
const forgotten = { inDoubt: true, firstSentAt: T0 - 48 * HOUR } as const
const outage = { reason: 'tool_unreachable', cause: 'a server', since: T0 - 48 * HOUR, failures: 9 } as const
const builtin = (name: string, args: JsonObject = {}) =>
  ({ kind: 'builtin', name, ref: `svc.${name}`, arguments: args }) as const

const task = 't1' as TaskId
const PARENT = 'parent' as RunId
const CHILD = 'child' as RunId
const proposed = { at: 'proposed' } as const
const ready = { at: 'ready' } as const
const awaiting = { at: 'awaiting', task } as const
const sent = { at: 'sent', sentAt: T0 - HOUR, notAfter: T0 } as const
const retrying = { at: 'retrying', until: T0 + HOUR } as const
const unknown = { at: 'unknown', task } as const
const untilReport = { at: 'waiting', since: T0 - HOUR, wait: { kind: 'external', until: T0 } } as const
const untilTime = { at: 'waiting', since: T0 - HOUR, wait: { kind: 'timer', until: T0 } } as const
const delegated = { at: 'delegated', child: CHILD } as const
const listening = { at: 'listening' } as const
const asking = { at: 'asking', requestId: 'q1' } as const

const ended = (outcome: ToolOutcome): RunTransitionEvent => ({ type: 'call.ended', callId: 'c1', attempt: 1, outcome })
const notSent = (code: 'unreachable' | 'no_handler'): RunTransitionEvent =>
  ended({ at: 'not_sent', code, error: 'It was not sent.' })
const noAnswer = ended({ at: 'unknown', code: 'timeout', error: 'There was no answer.' })
const reported: RunTransitionEvent = { type: 'call.reported', callId: 'c1', result: 1, isError: false }
const admitted: RunTransitionEvent = { type: 'admitted' }
const outageOver: RunTransitionEvent = { type: 'outage.over', cause: outage.cause }
const waitDue: RunTransitionEvent = { type: 'call_wait.due' }
const resumed: RunTransitionEvent = { type: 'resumed', by: 'operator:olga', reason: null }
const decided = (kind: TaskRecord['kind'], answer: Omit<TaskAnswer, 'outcome'>): RunTransitionEvent => {
  const record = { id: task, kind, callId: 'c1', actionDigest: digestOfJson({}), votes: [] }
  return {
    type: 'task.closed',
    task: { ...record, answer: { outcome: 'answered', ...answer } } as unknown as TaskRecord,
  }
}

/** The run ends, and an operator resumes it. */
function endAndResume(run: RunHandle): void {
  advanceRun(run, { type: 'cancelled', reason: null, by: 'operator:olga' })
  advanceRun(run, resumed)
}

/** The run fails over its call, and an operator resumes it. */
function failAndResume(run: RunHandle): void {
  run.update({ state: { at: 'done', outcome: 'failed', output: null, error: 'It failed.', from: run.state } })
  advanceRun(run, resumed)
}

/** Nobody answers the task of the call in time. */
function timeOut(run: RunHandle): void {
  const about = { title: 'Pay?', prompt: 'Pay?', callId: 'c1', expiresAt: T0, onTimeout: 'escalate' } as const
  const { id } = run.openTask({ kind: 'approval', ...about })
  run.setState(callingWith({ ...baseCall, state: { at: 'awaiting', task: id } }))
  expireTask(run.tx, id)
}

export const CALL_MOVE_EXAMPLES: Readonly<Record<string, CallMoveExample>> = {
  'proposed ready': { from: proposed, event: admitted },
  'proposed awaiting': { from: proposed, policy: {}, event: admitted },
  'proposed settled': { from: proposed, policy: { effect: 'deny' }, event: admitted },
  'proposed unknown': { from: proposed, call: { inDoubt: true }, policy: { effect: 'deny' }, event: admitted },
  'proposed proposed': { from: proposed, event: endAndResume },

  'ready sent': { from: ready, event: admitted },
  'ready delegated': { from: ready, call: { kind: 'agent', name: 'helper', ref: 'acme.helper' }, event: admitted },
  'ready asking': { from: ready, call: builtin('ask_parent', { question: 'Pay?' }), event: admitted },
  'ready listening': { from: ready, call: builtin('ask_user', { question: 'Pay?' }), event: admitted },
  'ready waiting': { from: ready, call: builtin('wait_until', { after: '1h' }), event: admitted },
  'ready awaiting': { from: ready, policy: asks('no_handler'), isUnhandled: true, event: admitted },
  'ready proposed': { from: ready, event: endAndResume },
  'ready unknown': { from: ready, call: { inDoubt: true }, tool: safe, isUnhandled: true, event: admitted },
  'ready settled': { from: ready, isUnhandled: true, event: admitted },

  'awaiting proposed': { from: awaiting, event: decided('approval', { approved: true }) },
  'awaiting awaiting': { from: awaiting, event: timeOut },
  'awaiting settled': { from: awaiting, event: decided('approval', { approved: false }) },
  'awaiting unknown': { from: awaiting, call: forgotten, tool: safe, event: endAndResume },

  'sent settled': { from: sent, event: ended(returns(1)) },
  'sent waiting': { from: sent, tool: external, event: ended(returns(1)) },
  'sent retrying': { from: sent, event: notSent('unreachable') },
  'sent ready': { from: sent, event: noAnswer },
  'sent awaiting': { from: sent, policy: asks('no_handler'), event: notSent('no_handler') },
  'sent unknown': { from: sent, tool: unsafe, event: noAnswer },
  'sent sent': {
    from: sent,
    event: {
      type: 'call.asked',
      callId: 'c1',
      attempt: 1,
      question: { name: 'q', message: 'Sure?', schema: {} },
      until: T0,
    },
  },
  'sent proposed': { from: sent, event: endAndResume },

  'retrying ready': { from: retrying, call: { outage: { ...outage, failures: 1 } }, event: outageOver },
  'retrying proposed': { from: retrying, call: { outage }, event: outageOver },
  'retrying retrying': { from: retrying, call: { outage }, triesElsewhere: true, event: outageOver },
  'retrying unknown': { from: retrying, call: { outage, ...forgotten }, tool: safe, event: outageOver },
  'retrying settled': { from: retrying, event: reported },

  'unknown settled': { from: unknown, tool: unsafe, event: decided('anomaly_review', { selectedOptionId: 'skip' }) },
  'unknown proposed': { from: unknown, tool: unsafe, event: decided('anomaly_review', { selectedOptionId: 'retry' }) },
  'unknown ready': { from: unknown, tool: unsafe, event: ended(HELD_BACK) },
  'unknown waiting': { from: unknown, tool: { ...unsafe, ...external }, event: ended(returns(1)) },
  'unknown retrying': { from: unknown, tool: unsafe, event: notSent('unreachable') },
  'unknown awaiting': { from: unknown, tool: unsafe, policy: asks('no_handler'), event: notSent('no_handler') },
  'unknown unknown': { from: unknown, tool: unsafe, event: endAndResume },

  'waiting settled': { from: untilTime, event: waitDue },
  'waiting unknown': { from: untilReport, tool: { ...unsafe, ...external }, event: waitDue },
  'waiting awaiting': { from: untilReport, tool: external, policy: asks('timeout'), event: waitDue },
  'waiting waiting': { from: untilTime, call: builtin('wait_until'), event: endAndResume },
  'waiting proposed': { from: untilReport, tool: { ...safe, ...external }, event: failAndResume },

  'delegated settled': { from: delegated, event: (run) => advanceRun(run.tx.run(CHILD), { type: 'broken' }) },
  'delegated delegated': { from: delegated, event: endAndResume },

  'listening settled': {
    from: listening,
    call: builtin('ask_user'),
    event: { type: 'message', text: 'Yes.', files: [] },
  },
  'listening proposed': { from: listening, call: builtin('ask_user'), event: endAndResume },

  'asking settled': {
    from: asking,
    call: builtin('ask_parent'),
    event: { type: 'question.answered', callId: 'c1', requestId: 'q1', answer: 'Yes.', by: 'person' },
  },
  'asking awaiting': {
    from: asking,
    call: builtin('ask_parent'),
    event: ({ tx, id }) =>
      escalateQuestion(tx, { child: id, callId: 'c1', requestId: 'q1', question: 'Pay?', context: null }),
  },
  'asking asking': { from: asking, call: builtin('ask_parent'), event: endAndResume },

  'settled settled': {
    from: { at: 'settled', outcome: 'rejected', ends: { error: 'It was rejected.', errorCode: 'rejected' } },
    event: failAndResume,
  },
  'settled proposed': {
    from: { at: 'settled', outcome: 'not_sent', ends: { error: 'It was held for too long.', errorCode: 'outage' } },
    event: failAndResume,
  },
  'settled unknown': {
    from: { at: 'settled', outcome: 'skipped', ends: { error: 'A person stopped it.', errorCode: 'tool_failed' } },
    tool: unsafe,
    event: failAndResume,
  },
}

const baseCall = {
  id: 'c1',
  index: 0,
  name: 'pay',
  kind: 'tool',
  ref: 'acme.pay',
  arguments: {},
  argumentsDigest: digestOfJson({}),
  attempt: 1,
} as const

const callingWith = (call: Omit<ToolCall, never>): RunState => ({ at: 'calling', turn: 1, calls: [call as ToolCall] })

/** Applies an example to a run in a session of three, root above run above child, in a transaction that is dropped. */
export async function playCallMove(example: CallMoveExample): Promise<void> {
  const { from, call, tool: about, policy: entry, isUnhandled, triesElsewhere, event } = example
  const snapshot = snapshotOf({
    name: 'root',
    tools: [tool('pay', about)],
    agents: [boundAgent(snapshotOf({ name: 'helper' }))],
    ...(entry && { policies: [{ on: ['pay'], entry: policy('one', entry) }] }),
  })
  const bench = await openBench({ agents: [snapshot], models: {} })
  const { parts, store } = bench
  const version = (await store.version(versionIdOf('test', snapshot.id, snapshot.digest)))!
  const run = newRootRun(parts, version, {}, T0, 's1' as SessionId)
  const isUser = from.at === 'listening' || call?.ref === 'svc.ask_user'
  const runs = [
    { ...run, id: PARENT, state: callingWith({ ...baseCall, state: { at: 'delegated', child: run.id } }) },
    {
      ...run,
      ...(!isUser && { parentRunId: PARENT, parentCallId: 'c1', depth: 1 }),
      state: callingWith({ ...baseCall, ...call, state: from }),
    },
    { ...run, id: CHILD, parentRunId: run.id, parentCallId: 'c1', depth: 2 },
  ]
  const starter = { triggerType: 'api', triggeredBy: null, person: null, triggerId: null, triggerName: null } as const
  const tx = openTransaction(
    { session: firstSession(version, runs[0]!, starter), runs, tasks: [] },
    {
      ...contextOf(parts, version, T0),
      callsAtOnce: 5,
      takeSlot: () => true,
      childOf: () => version,
      routeOf: () => (isUnhandled ? undefined : { route: 'mock', timeoutMs: 1000, invoke: () => Promise.reject() }),
      outages: { laterThan: () => (triesElsewhere ? T0 + HOUR : undefined), failed() {} },
    },
  )
  if (typeof event === 'function') event(tx.run(run.id))
  else advanceRun(tx.run(run.id), event)
  await bench.engine.close(0)
}
