/** Opens a transaction on a session that was read. */
import type { Instant } from '../../base/clock.ts'
import type { RunId, TaskId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Run } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { CallRow, IdempotencyClaim, SessionTimer, TimerKey, SessionTree } from '../../store/store.ts'
import type { TransitionContext } from './context.ts'
import { deriveStatuses, deriveWaits, setBudgetTimers } from './derive.ts'
import type { RunTransitionEvent } from './event.ts'
import { callKey } from './keys.ts'
import { statusesOf } from './status.ts'
import { createStepLog } from './step-log.ts'
import { toTaskContent } from '../../spec/task-content.ts'
import type { RunHandle, SessionTransaction } from './transaction.ts'
import { withHoldCounted } from './waits.ts'

export function openTransaction(tree: SessionTree, context: TransitionContext): SessionTransaction {
  const { session } = tree
  const { now, heldSince } = context
  // What a hold has taken is counted before anything asks for the time; it is stored with what else changes.
  const found = tree.runs.map((run) =>
    heldSince === undefined || run.state.at === 'done'
      ? run
      : { ...run, usage: withHoldCounted(run.usage, heldSince, now) },
  )
  const records = new Map(found.map((run) => [run.id, run]))
  const handles = new Map<RunId, RunHandle>()
  const tasks = new Map<TaskId, TaskRecord>(tree.tasks.map((task) => [task.id, task]))
  const changedTasks = new Map<TaskId, TaskRecord>()
  const changedCalls = new Map<string, CallRow>()
  const timers = new Map<string, { key: TimerKey; at: Instant | null }>()
  const queuedEvents: { run: RunHandle; event: RunTransitionEvent }[] = []
  const log = createStepLog(session, context)
  const claims: IdempotencyClaim[] = []

  const putTask = (task: TaskRecord): void => {
    if (task.status === 'pending') tasks.set(task.id, task)
    else tasks.delete(task.id)
    changedTasks.set(task.id, task)
  }
  const addTaskEvent = (task: TaskRecord, what: string): void =>
    log.addEvent(task.runId, 'user_task', `engine.user_task.${what}`, { task: taskContentOf(task) })

  function createRunHandle(id: RunId): RunHandle {
    const run: RunHandle = {
      tx,
      id,
      get record() {
        return records.get(id)!
      },
      get state() {
        return run.record.state
      },
      get usage() {
        return run.record.usage
      },
      get snapshot() {
        return context.snapshotOf(run.record)
      },
      parent() {
        const { parentRunId } = run.record
        return parentRunId === null ? undefined : tx.run(parentRunId)
      },
      ancestors() {
        const above: RunHandle[] = []
        for (let next = run.parent(); next; next = next.parent()) above.push(next)
        return above
      },
      children: () =>
        [...records.values()].filter(({ parentRunId }) => parentRunId === id).map((child) => tx.run(child.id)),
      statusNow: () => statusesOf(tx.runs()).get(id)!,
      update: (change) => void records.set(id, { ...run.record, ...change }),
      setState: (state) => run.update({ state }),
      updateUsage: (change) => run.update({ usage: { ...run.usage, ...change } }),
      steps: () => log.stepsOf(id),
      lastStep: (matches) => log.lastStep(id, matches),
      addStep: (type, content, options) => log.addStep(run.record, type, content, options),
      closeStep: (step, error, shown) => log.closeStep(run.record, step, error, shown),
      addEvent: (kind, subject, data) => log.addEvent(id, kind, subject, data),
      openTask(request) {
        const task: TaskRecord = {
          ...request,
          id: context.ids.next(),
          sessionId: session.id,
          runId: id,
          status: 'pending',
          votes: [],
          createdAt: now,
        }
        putTask(task)
        run.addStep('UserTaskReq', taskContentOf(task), { open: true })
        addTaskEvent(task, 'created')
        if (task.expiresAt !== undefined) run.setTimer('task_timeout', task.id, task.expiresAt)
        return task
      },
      callRow(callId) {
        const key = callKey(id, callId)
        return changedCalls.get(key) ?? context.calls.get(key)
      },
      setTimer(kind, ref, at) {
        timers.set(`${id} ${kind} ${ref}`, { key: { sessionId: session.id, runId: id, kind, ref }, at })
      },
      queueEvent: (event) => void queuedEvents.push({ run, event }),
    }
    handles.set(id, run)
    return run
  }

  const tx: SessionTransaction = {
    context,
    now,
    session,
    run: (id) => handles.get(id) ?? createRunHandle(id),
    runs: () => [...records.values()],
    addRun(run) {
      records.set(run.id, run)
      return tx.run(run.id)
    },
    pendingTasks: () => [...tasks.values()],
    changedTask: (id) => changedTasks.get(id),
    changeTask(task, subject) {
      putTask(task)
      if (subject) addTaskEvent(task, subject)
    },
    closeTask(pending, status) {
      const task: TaskRecord = { ...pending, status, completedAt: now }
      const run = tx.run(task.runId)
      putTask(task)
      const request = run.lastStep(({ type, content }) => type === 'UserTaskReq' && content['user_task_id'] === task.id)
      if (request) run.closeStep(request, undefined, taskContentOf(task))
      if (task.expiresAt !== undefined) run.setTimer('task_timeout', task.id, null)
      addTaskEvent(task, status)
    },
    callRows: () => [...new Map([...context.calls, ...changedCalls]).values()],
    recordCallRow: (row) => void changedCalls.set(callKey(row.runId, row.callId), row),
    endHold() {
      for (const { id, state, status } of tx.runs()) {
        if (state.at === 'done') continue
        const run = tx.run(id)
        run.update({})
        setBudgetTimers(run)
        if (status === 'Running') run.addEvent('run', 'engine.run.resumed', { status, output: null, error: null })
      }
    },
    nextEvent: () => queuedEvents.shift(),
    recordClaim: (claim) => void claims.push(claim),
    toUpdate() {
      deriveStatuses(tx)
      deriveWaits(tx)
      for (const [id, lastSequence] of log.lastSequences()) tx.run(id).update({ lastSequence })
      const { lastSeq, lastOrdinal, ...added } = log.changes()
      const runs = tx.runs()
      const timerChanges = [...timers.values()]
      const before = new Set(found)
      const changedRuns = runs.filter((run) => !before.has(run))
      const changes =
        changedRuns.length +
        added.events.length +
        timerChanges.length +
        changedTasks.size +
        changedCalls.size +
        claims.length
      if (changes === 0) return undefined
      const root = records.get(session.rootRunId)!
      return {
        session: {
          ...session,
          status: root.status,
          output: root.output,
          error: root.error,
          finishedAt: root.finishedAt,
          totalTokensUsed: runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
          runCount: runs.length,
          lastSeq,
          lastOrdinal,
        },
        ...added,
        runs: changedRuns,
        tasks: [...changedTasks.values()],
        calls: [...changedCalls.values()],
        setTimers: timerChanges.flatMap(({ key, at }): SessionTimer[] => (at === null ? [] : [{ ...key, at }])),
        clearTimers: timerChanges.flatMap(({ key, at }) => (at === null ? [key] : [])),
        ...(claims.length > 0 && { claims }),
        busy: runs.some(isBusy),
      }
    },
  }
  return tx
}

/** Shown in the timeline and in events alike. */
const taskContentOf = (task: TaskRecord): JsonObject => ({ ...toTaskContent(task) }) as unknown as JsonObject

/** True while a restart has something to continue. A call behind one of unknown outcome waits for a person. */
function isBusy(run: Run): boolean {
  if (run.state.at === 'thinking') return true
  if (run.state.at !== 'calling') return false
  const at = run.state.calls.map((call) => call.state.at)
  return at.includes('sent') || (!at.includes('unknown') && (at.includes('proposed') || at.includes('ready')))
}
