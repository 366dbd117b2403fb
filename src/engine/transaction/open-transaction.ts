/** Opens a transaction on a session that was read. */
import type { RunId, TaskId } from '../../base/ids.ts'
import type { NewAct } from '../../spec/people/act.ts'
import { isHeldUntilRestart } from '../../spec/run/hold.ts'
import type { Run } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { CallRow, CompletionSpend, SessionTimer, SessionTree } from '../../store/session-update.ts'
import type { IdempotencyClaim } from '../../store/start-outcome.ts'
import type { TransitionContext } from './context.ts'
import { deriveHolds, derivePlan, deriveStatuses, deriveTaint, deriveWaits, setBudgetTimers } from './derive.ts'
import { createEffectLedger } from './effect-ledger.ts'
import { callKey } from '../session/keys.ts'
import { createStepLog } from './step-log.ts'
import { taskContentOf, TransactionRun, type TransactionParts } from './run-handle.ts'
import type { SessionTransaction, SessionTotals } from './transaction.ts'
import { withHoldCounted } from './waits.ts'
import { joinCosts, subtractCost, type CostSum } from '../../spec/price.ts'
import type { Session } from '../../spec/run/session.ts'

export function openTransaction(tree: SessionTree, context: TransitionContext): SessionTransaction {
  const { session } = tree
  const { now, heldSince } = context
  // Counts the time of a hold before anything reads the clock; it is stored with the next change.
  const found = tree.runs.map((run) =>
    heldSince === undefined || run.state.at === 'done'
      ? run
      : { ...run, usage: withHoldCounted(run.usage, Math.max(heldSince, run.startedAt), now) },
  )
  const handles = new Map<RunId, TransactionRun>()
  const tasks = new Map<TaskId, TaskRecord>(tree.tasks.map((task) => [task.id, task]))
  const changedTasks = new Map<TaskId, TaskRecord>()
  const changedCalls = new Map<string, CallRow>()
  const timers: TransactionParts['timers'] = new Map()
  const spends: CompletionSpend[] = []
  const queuedEvents: TransactionParts['queuedEvents'] = []
  const log = createStepLog(session, context)
  const claims: IdempotencyClaim[] = []
  const acts: NewAct[] = []
  const effects = createEffectLedger(context.effectsOf)

  const putTask = (task: TaskRecord): void => {
    if (task.status === 'pending') tasks.set(task.id, task)
    else tasks.delete(task.id)
    changedTasks.set(task.id, task)
  }
  const addTaskEvent = (task: TaskRecord, what: string): void =>
    log.addEvent(task.runId, 'user_task', `engine.user_task.${what}`, { task: taskContentOf(task) })

  function addRun(record: Run): TransactionRun {
    const run = new TransactionRun(parts, record)
    handles.set(record.id, run)
    return run
  }

  const tx: SessionTransaction = {
    context,
    now,
    session,
    effects,
    run: (id) => handles.get(id)!,
    runs: () => [...handles.values()].map(({ record }) => record),
    totals: () => totalsOf(session, tree.runs, tx.runs()),
    addRun,
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
    cancelTask: (task) => tx.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled'),
    callRows: () => [...new Map([...context.calls, ...changedCalls]).values()],
    recordCallRow: (row) => void changedCalls.set(callKey(row.runId, row.callId), row),
    recordSpend: (spend) => void spends.push(spend),
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
    recordAct: (act) => void (act && acts.push(act)),
    toUpdate() {
      deriveStatuses(tx)
      deriveWaits(tx)
      deriveHolds(tx, tree.runs)
      deriveTaint(tx)
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
        claims.length +
        acts.length +
        effects.changes().length
      if (changes === 0) return undefined
      const root = tx.run(session.rootRunId).record
      return {
        session: {
          ...session,
          agentVersionId: root.agentVersionId,
          versionLabel: root.versionLabel,
          llmModel: root.llmModel,
          status: root.status,
          output: root.output,
          error: root.error,
          finishedAt: root.finishedAt,
          ...tx.totals(),
          lastSeq,
          lastOrdinal,
        },
        ...added,
        runs: changedRuns,
        tasks: [...changedTasks.values()],
        calls: [...changedCalls.values()],
        spends,
        setTimers: timerChanges.flatMap(({ key, at }): SessionTimer[] => (at === null ? [] : [{ ...key, at }])),
        clearTimers: timerChanges.flatMap(({ key, at }) => (at === null ? [key] : [])),
        ...(claims.length > 0 && { claims }),
        ...(acts.length > 0 && { acts }),
        ...(effects.changes().length > 0 && { effects: effects.changes() }),
        ...derivePlan(tx, tree.runs),
        busy: hasWork(runs),
      }
    },
  }
  const parts: TransactionParts = { tx, handles, log, changedCalls, timers, queuedEvents, putTask, addTaskEvent }
  for (const run of found) addRun(run)
  return tx
}

/** True while a session has something in flight, which a restart continues. */
export const hasWork = (runs: readonly Run[]): boolean => runs.some(isBusy)

/**
 * True while a restart has something to continue, or may end an outage. A call behind one of unknown outcome waits for a
 * person.
 */
function isBusy(run: Run): boolean {
  if (isHeldUntilRestart(run)) return true
  if (run.state.at === 'thinking') return run.state.outside === undefined
  if (run.state.at !== 'calling') return false
  const at = run.state.calls.map((call) => call.state.at)
  return at.includes('sent') || (!at.includes('unknown') && (at.includes('proposed') || at.includes('ready')))
}

/**
 * @param before the runs as they were read
 * @param now the same runs, and new ones
 */
function totalsOf(session: Session, before: readonly Run[], now: readonly Run[]): SessionTotals {
  const costs = costsOf(now)
  const cost =
    session.cost || costs.length > 0
      ? subtractCost(joinCosts([...(session.cost ? [session.cost] : []), ...costs]), joinCosts(costsOf(before)))
      : undefined
  return {
    runCount: session.runCount + now.length - before.length,
    totalTokensUsed: session.totalTokensUsed + tokensIn(now) - tokensIn(before),
    ...(cost && { cost }),
  }
}

const tokensIn = (runs: readonly Run[]): number =>
  runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0)

const costsOf = (runs: readonly Run[]): readonly CostSum[] => runs.flatMap(({ usage }) => usage.cost ?? [])
