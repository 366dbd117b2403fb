/** Applies one event to a tree: the run it is for, and every run that what happened there is told to. */
import type { RunId } from '../../base/ids.ts'
import type { RunStatusName } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { endRun } from '../limits/ending.ts'
import type { RunTransitionEvent } from '../session/event.ts'
import { nextState } from './machine.ts'
import { nextInLine } from '../limits/reserve.ts'

/** @returns false when the run takes no such event where it stands, and nothing has changed */
export function advanceRun(draft: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const moved = apply(draft, id, event)
  for (;;) {
    for (let told = draft.told(); told; told = draft.told()) apply(draft, told.run, told.event)
    const first = nextInLine(draft)
    if (first === undefined) return moved
    apply(draft, first, { type: 'admitted' })
  }
}

function apply(draft: SessionTransaction, id: RunId, event: RunTransitionEvent): boolean {
  const state = nextState(draft, id, event)
  if (!state) return false
  if (state.at === 'done') endRun(draft, id, state)
  else {
    draft.move(id, state)
    leaveMoot(draft)
  }
  return true
}

/** An operator's task about a limit ends with what it is about: the wait that was too long, or the state that it holds. */
function leaveMoot(draft: SessionTransaction): void {
  for (const task of draft.tasks()) {
    if (task.about !== 'limit') continue
    const { state } = draft.run(task.runId)
    const isAbout = state.at === 'held' ? state.task === task.id : waitsForPerson(draft.statusNow(task.runId))
    if (!isAbout) draft.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
  }
}

const waitsForPerson = (status: RunStatusName): boolean =>
  status === 'WaitingForHITL' || status === 'WaitingForResponse'
