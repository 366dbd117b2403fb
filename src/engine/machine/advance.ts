/** Applies an event to its run, and the events that follow from it to other runs of the session. */
import type { RunId } from '../../base/ids.ts'
import type { RunStatusName } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { endRun } from '../limits/ending.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { nextState } from './machine.ts'
import { nextInLine } from '../limits/reserve.ts'

/** @returns false when the event does not apply in the current state of the run, and nothing changed */
export function advanceRun(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const hasApplied = applyToRun(tx, id, event)
  for (;;) {
    for (let next = tx.nextEvent(); next; next = tx.nextEvent()) applyToRun(tx, next.run, next.event)
    const first = nextInLine(tx)
    if (first === undefined) return hasApplied
    applyToRun(tx, first, { type: 'admitted' })
  }
}

function applyToRun(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const state = nextState(tx, id, event)
  if (!state) return false
  if (state.at === 'done') endRun(tx, id, state)
  else {
    tx.setState(id, state)
    closeMootLimitTasks(tx)
  }
  return true
}

/** Closes limit tasks that lost their subject: the wait that was too long, or the state that they hold. */
function closeMootLimitTasks(tx: SessionTransaction): void {
  for (const task of tx.pendingTasks()) {
    if (task.about !== 'limit') continue
    const { state } = tx.run(task.runId)
    const isRelevant = state.at === 'held' ? state.task === task.id : waitsForPerson(tx.statusNow(task.runId))
    if (!isRelevant) tx.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
  }
}

const waitsForPerson = (status: RunStatusName): boolean =>
  status === 'WaitingForHITL' || status === 'WaitingForResponse'
