/** Applies an event to its run, and the events that follow from it to other runs of the session. */
import type { RunStatusName } from '../../spec/run/run.ts'
import { endRun } from '../limits/ending.ts'
import { findNextToAdmit } from '../limits/reserve.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import type { RunHandle, SessionTransaction } from '../transaction/transaction.ts'
import { nextState } from './machine.ts'

/** @returns false when the event does not apply in the current state of the run, and nothing changed */
export function advanceRun(run: RunHandle, event: RunTransitionEvent): boolean {
  const { tx } = run
  const hasApplied = applyToRun(run, event)
  for (;;) {
    for (let next = tx.nextEvent(); next; next = tx.nextEvent()) applyToRun(next.run, next.event)
    const first = findNextToAdmit(tx)
    if (first === undefined) return hasApplied
    applyToRun(first, { type: 'admitted' })
  }
}

function applyToRun(run: RunHandle, event: RunTransitionEvent): boolean {
  const state = nextState(run, event)
  if (!state) return false
  if (state.at === 'done') endRun(run, state)
  else {
    run.setState(state)
    closeObsoleteLimitTasks(run.tx)
  }
  return true
}

/** Closes limit tasks that lost their subject: the wait that was too long, or the state that they hold. */
function closeObsoleteLimitTasks(tx: SessionTransaction): void {
  for (const task of tx.pendingTasks()) {
    if (task.about !== 'limit') continue
    const run = tx.run(task.runId)
    const isRelevant = run.state.at === 'held' ? run.state.task === task.id : waitsForPerson(run.statusNow())
    if (!isRelevant) tx.cancelTask(task)
  }
}

const waitsForPerson = (status: RunStatusName): boolean =>
  status === 'WaitingForHITL' || status === 'WaitingForResponse'
