/** Applies one event to a tree: the run it is for, and every run that what happened there is told to. */
import type { RunId } from '../../base/ids.ts'
import type { RunStatusName } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { endRun } from '../limits/ending.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { nextState } from './machine.ts'
import { nextInLine } from '../limits/reserve.ts'

/** @returns false when the run takes no such event where it stands, and nothing has changed */
export function advanceRun(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const moved = apply(tx, id, event)
  for (;;) {
    for (let told = tx.nextEvent(); told; told = tx.nextEvent()) apply(tx, told.run, told.event)
    const first = nextInLine(tx)
    if (first === undefined) return moved
    apply(tx, first, { type: 'admitted' })
  }
}

function apply(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const state = nextState(tx, id, event)
  if (!state) return false
  if (state.at === 'done') endRun(tx, id, state)
  else {
    tx.setState(id, state)
    leaveMoot(tx)
  }
  return true
}

/** An operator's task about a limit ends with what it is about: the wait that was too long, or the state that it holds. */
function leaveMoot(tx: SessionTransaction): void {
  for (const task of tx.pendingTasks()) {
    if (task.about !== 'limit') continue
    const { state } = tx.run(task.runId)
    const isAbout = state.at === 'held' ? state.task === task.id : waitsForPerson(tx.statusNow(task.runId))
    if (!isAbout) tx.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
  }
}

const waitsForPerson = (status: RunStatusName): boolean =>
  status === 'WaitingForHITL' || status === 'WaitingForResponse'
