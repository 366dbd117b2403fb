/** Describes undos, for the terminal and for a browser. Not escaped. */
import { shortId } from '../base/text/short-text.ts'
import { isJsonObject, type JsonObject, textOf } from '../base/json/json.ts'
import { describeHold } from '../spec/run/hold.ts'
import type { UndoingRunView } from '../operations/shared.ts'
import type { UndoItemView, UndoPlanView } from '../operations/steering.ts'
import { describeApprover } from './task/task-people.ts'

/** The planned or actual undo of one call. */
export function describeUndoItem({ state, undo, undoneBy, why }: UndoItemView): string {
  if (undoneBy) return describeUndoing(undoneBy)
  if (state !== 'open' || !undo) return `cannot be undone: ${why ?? ''}`
  const decided = DECISIONS[undo.decision](undo)
  return why === undefined ? decided : `${decided.replace(/\.$/, '')}; the last attempt: ${why}`
}

const DECISIONS: Readonly<
  Record<NonNullable<UndoItemView['undo']>['decision'], (undo: NonNullable<UndoItemView['undo']>) => string>
> = {
  allow: () => 'allowed',
  require_approval: ({ approvals = 1, explanation }) =>
    `needs ${approvals === 1 ? 'an approval' : `${approvals} approvals`}: ${explanation}`,
  escalate: ({ explanation }) => `needs the decision of an operator: ${explanation}`,
  deny: ({ explanation }) => `denied, and left as it is: ${explanation}`,
}

/** `undone by run 1f3a9c, for operator ana: a wrong date`. */
export function describeUndoing({ runId, status, by, reason, waitingOn, hold }: UndoingRunView): string {
  const run = `run ${shortId(runId)}`
  const who = `for ${describeApprover(by)}${reason === null ? '' : `: ${reason}`}`
  if (status === 'Completed') return `undone by ${run}, ${who}`
  if (status === 'Failed' || status === 'Cancelled') return `not undone: ${run} is ${status}, ${who}`
  const state = hold ? `held: ${describeHold(hold)}` : 'under way'
  const waits = waitingOn === undefined ? state : `waits: ${waitingOn}`
  return `being undone by ${run} (${waits}), ${who}`
}

/** `2 of 3 calls`; undefined where none was undone. */
export function describeUndone({ items }: UndoPlanView): string | undefined {
  const count = items.filter(({ state }) => state === 'undone').length
  return count === 0 ? undefined : `${count} of ${items.length} ${items.length === 1 ? 'call' : 'calls'}`
}

/** The text of an `UndoRequested` step. */
export function describeUndoRequest({ undoes, ref }: JsonObject): string {
  const { tool, asked_by, reason } = isJsonObject(undoes ?? null) ? (undoes as JsonObject) : {}
  return [
    `${textOf(tool)} with ${textOf(ref)}`,
    `for ${describeApprover(textOf(asked_by))}`,
    ...(typeof reason === 'string' && reason !== '' ? [reason] : []),
  ].join('; ')
}
