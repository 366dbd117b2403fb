/**
 * Counts what happens to runs, from the updates that were saved: what a save refuses is not counted, and no place of the engine knows of
 * it. Counters begin at zero with the process; each server counts what it saved. Source: docs/design/runs-and-recovery.md#timeline
 */
import { isJsonObject, type JsonObject, textOf } from '../../base/json/json.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, SessionUpdate, SessionUpdateEvent } from '../../store/session-update.ts'
import type { Store } from '../../store/store.ts'
import type { MetricRegistry } from './registry.ts'

/** Outcomes of calls; their other states are not counted. */
const CALL_OUTCOMES = new Set(['executed', 'failed', 'denied', 'rejected', 'invalid', 'not_sent', 'skipped', 'unknown'])
/** Tools whose side effect class is remembered. */
const MOST_TOOLS = 1000

/** A store that counts every update after it was saved, and how long that took. */
export function withRunMetrics(store: Store, registry: MetricRegistry, monotonic: () => number): Store {
  const countUpdate = createUpdateCounter(registry)
  const commits = registry.histogram('svc_commit_seconds', 'How long saves of sessions took.', ['outcome'])
  async function timed<T>(commit: () => Promise<T>): Promise<T> {
    const begun = monotonic()
    const end = (outcome: string): void => commits.observe({ outcome }, (monotonic() - begun) / 1000)
    try {
      const saved = await commit()
      end('saved')
      return saved
    } catch (error) {
      end('refused')
      throw error
    }
  }
  return {
    ...store,
    async start(update, ...more) {
      const started = await timed(() => store.start(update, ...more))
      if (started.outcome === 'started') countUpdate(update)
      return started
    },
    async save(update, ...more) {
      const lease = await timed(() => store.save(update, ...more))
      countUpdate(update)
      return lease
    },
  }
}

function createUpdateCounter(registry: MetricRegistry): (update: SessionUpdate) => void {
  const runsStarted = registry.counter('svc_runs_started_total', 'Runs that began, sub-agents included.', ['agent'])
  const runsEnded = registry.counter('svc_runs_ended_total', 'Runs that ended; error is empty for completed ones.', [
    'agent',
    'status',
    'error',
  ])
  const runTime = registry.histogram('svc_run_duration_seconds', 'From start to end, waiting included.', ['status'])
  const modelTime = registry.histogram('svc_model_request_duration_seconds', 'Completions of models.', [
    'provider',
    'model',
    'outcome',
  ])
  const tokens = registry.counter(
    'svc_model_tokens_total',
    'Tokens of completions; cached and cache_write are parts of input, reasoning of output.',
    ['provider', 'model', 'kind'],
  )
  const cost = registry.counter('svc_model_cost_total', 'What completions cost, in units of the currency.', [
    'provider',
    'model',
    'currency',
  ])
  const unpriced = registry.counter('svc_model_cost_unknown_total', 'Completions whose price is not known.', [
    'provider',
    'model',
  ])
  const calls = registry.counter('svc_tool_calls_total', 'Calls of tools and agents by their outcome.', [
    'ref',
    'class',
    'outcome',
  ])
  const callTime = registry.histogram('svc_tool_call_duration_seconds', 'Calls of tools that answered.', [
    'ref',
    'outcome',
  ])
  const decisions = registry.counter('svc_policy_decisions_total', 'Decisions about calls.', ['decision'])
  const tasks = registry.counter('svc_tasks_total', 'Tasks of people: created, voted, completed, expired, cancelled.', [
    'kind',
    'event',
  ])
  const taskTime = registry.histogram('svc_task_wait_seconds', 'How long people took to complete a task.', ['kind'])

  /** Side effect class by tool: the row of a call does not have it, the step that sent it has. */
  const classes = new Map<string, string>()

  function countStep({ type, content, startedAt, finishedAt, error }: RunStep, update: SessionUpdate): void {
    if (type === 'Reasoning') {
      const labels = { provider: textOf(content['provider']), model: textOf(content['model']) }
      if (finishedAt !== null)
        modelTime.observe(
          { ...labels, outcome: error === null ? 'completed' : 'failed' },
          (finishedAt - startedAt) / 1000,
        )
    } else if (type === 'PolicyDecision') decisions.add({ decision: textOf(content['decision']) })
    else if (type === 'ToolCall') {
      if (classes.size >= MOST_TOOLS) classes.clear()
      classes.set(textOf(content['ref']), textOf(content['side_effect_class']))
    } else if (type === 'ToolResult' && typeof content['duration_ms'] === 'number') {
      const row = update.calls.find(({ callId }) => callId === content['tool_call_id'])
      if (row && reachesNothing(row, update.steps)) return
      const outcome = content['is_error'] === true ? 'failed' : 'executed'
      callTime.observe({ ref: row?.ref ?? '', outcome }, content['duration_ms'] / 1000)
    }
  }

  function countEvent(event: SessionUpdateEvent, { runs, tasks: changed }: SessionUpdate): void {
    const { kind, subject, runId } = event
    if (kind === 'user_task' && 'data' in event) {
      const told = event.data['task'] as JsonObject
      const task = changed.find(({ id }) => id === told['user_task_id'])
      if (task) tasks.add({ kind: task.kind, event: subject.slice(subject.lastIndexOf('.') + 1) })
      if (subject === 'engine.user_task.completed' && task?.completedAt !== undefined)
        taskTime.observe({ kind: task.kind }, (task.completedAt - task.createdAt) / 1000)
    }
    const run = kind === 'run' ? runs.find(({ id }) => id === runId) : undefined
    if (!run) return
    if (subject === 'engine.run.started') return runsStarted.add({ agent: run.agentName })
    const status = ENDS[subject]
    if (status === undefined) return
    runsEnded.add({ agent: run.agentName, status, error: run.errorCode ?? '' })
    if (run.finishedAt !== null) runTime.observe({ status }, (run.finishedAt - run.startedAt) / 1000)
  }

  return (update) => {
    for (const event of update.events) countEvent(event, update)
    for (const step of update.steps) countStep(step, update)
    for (const call of update.calls) {
      const { ref, state } = call
      if (!CALL_OUTCOMES.has(state)) continue
      const labels = reachesNothing(call, update.steps)
        ? { ref: UNKNOWN, class: '' }
        : { ref, class: classes.get(ref) ?? '' }
      calls.add({ ...labels, outcome: state })
    }
    for (const { provider, model, usage, cost: spent } of update.spends) {
      const labels = { provider, model }
      tokens.add({ ...labels, kind: 'input' }, usage.input_tokens)
      tokens.add({ ...labels, kind: 'output' }, usage.output_tokens)
      tokens.add({ ...labels, kind: 'cached' }, usage.cached_input_tokens ?? 0)
      tokens.add({ ...labels, kind: 'cache_write' }, usage.cache_write_tokens ?? 0)
      tokens.add({ ...labels, kind: 'reasoning' }, usage.reasoning_tokens ?? 0)
      if (spent === null) unpriced.add(labels)
      else if (spent) cost.add({ ...labels, currency: spent.currency }, Number(spent.amount))
    }
  }
}

/** A label of calls of tools that are not there: their names are whatever a model wrote. */
const UNKNOWN = 'unknown'

const reachesNothing = ({ runId, callId, state }: CallRow, steps: readonly RunStep[]): boolean =>
  state === 'invalid' &&
  steps.some(({ type, runId: of, content }) => {
    if (type !== 'ToolResult' || of !== runId || content['tool_call_id'] !== callId) return false
    return isJsonObject(content['result']) && content['result']['error'] === 'unknown_tool'
  })

const ENDS: Readonly<Record<string, string>> = {
  'engine.run.completed': 'completed',
  'engine.run.failed': 'failed',
  'engine.run.cancelled': 'cancelled',
}
