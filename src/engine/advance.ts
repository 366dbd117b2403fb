/** Applies one event to a tree: the run it is for, and every run that what happened there is told to. */
import type { RunId } from '../base/ids.ts'
import type { RunStatus } from '../spec/run.ts'
import type { Draft } from './draft.ts'
import { end } from './ending.ts'
import type { RunEvent } from './event.ts'
import { next } from './machine.ts'
import { nextInLine } from './reserve.ts'

/** @returns false when the run takes no such event where it stands, and nothing has changed */
export function advance(draft: Draft, id: RunId, event: RunEvent): boolean {
  const moved = apply(draft, id, event)
  for (;;) {
    for (let told = draft.told(); told; told = draft.told()) apply(draft, told.run, told.event)
    const first = nextInLine(draft)
    if (first === undefined) return moved
    apply(draft, first, { type: 'admitted' })
  }
}

function apply(draft: Draft, id: RunId, event: RunEvent): boolean {
  const state = next(draft, id, event)
  if (!state) return false
  if (state.at === 'done') end(draft, id, state)
  else {
    draft.move(id, state)
    leaveMoot(draft)
  }
  return true
}

/** An operator's task about a limit ends with what it is about: the wait that was too long, or the state that it holds. */
function leaveMoot(draft: Draft): void {
  for (const task of draft.tasks()) {
    if (task.about !== 'limit') continue
    const { state } = draft.run(task.runId)
    const isAbout = state.at === 'held' ? state.task === task.id : waitsForPerson(draft.statusNow(task.runId))
    if (!isAbout) draft.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
  }
}

const waitsForPerson = (status: RunStatus): boolean => status === 'WaitingForHITL' || status === 'WaitingForResponse'
