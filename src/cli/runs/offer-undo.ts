/** Tells how to undo the effects of a run that failed or was cancelled. Source: docs/design/steering.md#undo */
import { shortId } from '../../base/text/short-text.ts'
import { isTerminal } from '../../spec/run/run.ts'
import type { UndoPlanView } from '../../operations/steering.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { CommandContext } from '../shell/command.ts'

interface EndedRun {
  readonly runId: string
  readonly status: string
}

/** Undefined if the run goes on or only a key is at hand. The outcome was already printed, so an error here is ignored. */
export async function readUndoPlan(
  operator: OperatorClient | undefined,
  { runId, status }: EndedRun,
): Promise<UndoPlanView | undefined> {
  if (!operator || !isTerminal(status)) return undefined
  return await operator.call('GET /runs/:id/undo', { id: runId }).catch(() => undefined)
}

export const isUndoOffered = ({ status }: EndedRun): boolean => status === 'Failed' || status === 'Cancelled'

/** One line, where something can be undone. */
export function offerUndo({ out }: CommandContext, run: EndedRun, plan: UndoPlanView | undefined): void {
  if (!plan || plan.undoable === 0 || !isUndoOffered(run)) return
  const calls = plan.undoable === 1 ? 'a call' : `${plan.undoable} calls`
  out.hint(`  undo: svc runs undo ${shortId(run.runId)} --plan   (${calls} that it made can be undone)`)
}
