/** Undoing what an ended run made. Source: docs/design/steering.md#undo */
import { toIsoText } from '../../../base/clock.ts'
import type { RunId } from '../../../base/ids.ts'
import type { PlannedUndo } from '../../../engine/interface/engine.ts'
import type { UndoingRunView } from '../../../operations/shared.ts'
import type { UndoItemView } from '../../../operations/steering.ts'
import { isWaiting, undoneCallOf, type CallReference, type Run } from '../../../spec/run/run.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { readHold } from '../../view/hold.ts'
import { findRun } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { describeRun } from '../../acts/act-subjects.ts'
import { toRunView } from '../runs.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

export const planRunUndo: OperatorAction<'GET /runs/:id/undo'> = async ({ services, id }) => {
  const { id: runId } = await findRun(services, id)
  const { run, items } = await services.engine.planUndo(runId)
  const shown: UndoItemView[] = []
  for (const item of items) shown.push(await toUndoItem(services, item))
  return {
    runId: run.id,
    agent: run.agentName,
    versionLabel: run.versionLabel,
    status: run.status,
    items: shown,
    total: shown.length,
    undoable: items.filter((item) => item.at === 'open' && item.decision.verdict !== 'deny').length,
  }
}

export const undoRun: OperatorAction<'POST /runs/:id/undo'> = async ({ services, operator, id, body, act }) => {
  const { engine, log } = services
  const run = await findRun(services, id)
  const calls = body.calls.map(({ runId, toolCallId }): CallReference => ({
    runId: runId.toLowerCase() as RunId,
    callId: toolCallId,
  }))
  const { reason } = body
  const undone = act('run.undone', {
    subject: describeRun(run),
    reason,
    run,
    before: calls.map((call) => ({ run: call.runId, call: call.callId })),
  })
  const { runId } = await engine.undo(run.id, {
    by: operator,
    calls,
    ...(reason !== undefined && { reason }),
    act: undone,
  })
  log.write('info', 'An operator undoes what a run made.', { runId: run.id, undo: runId, calls: calls.length })
  return toRunView(services, await findRun(services, runId))
}

async function toUndoItem(services: ServerServices, item: PlannedUndo): Promise<UndoItemView> {
  const { call, agent, tool, madeAt, arguments: given } = item
  const about = {
    runId: call.runId,
    agent,
    toolCallId: call.callId,
    tool,
    at: toIsoText(madeAt),
    arguments: given,
    state: item.at,
  }
  switch (item.at) {
    case 'final':
      return { ...about, why: item.why }
    case 'undone':
    case 'under_way':
      return { ...about, undoneBy: expectDefined(await toUndoingRun(services, item.by), 'the plan names a run') }
    case 'open': {
      const { undo, decision, failed } = item
      return {
        ...about,
        ...(failed && { why: failed.error ?? `Run ${failed.id} was ${failed.status}.` }),
        undo: {
          tool: undo.tool,
          arguments: undo.arguments,
          decision: decision.verdict,
          explanation: decision.explanation,
          ...(decision.approvals !== undefined && { approvals: decision.approvals }),
        },
      }
    }
  }
}

/** A run that undoes a call; undefined for any other. */
export async function toUndoingRun(services: ServerServices, run: Run): Promise<UndoingRunView | undefined> {
  const undone = undoneCallOf(run)
  if (!undone) return undefined
  const tasks = isWaiting(run.status) ? await services.store.tasksOfSession(run.sessionId) : []
  const task = tasks.find(({ runId, status }) => runId === run.id && status === 'pending')
  const hold = await readHold(services, run)
  return {
    runId: run.id,
    status: run.status,
    by: undone.by,
    reason: undone.reason,
    at: toIsoText(run.finishedAt ?? run.startedAt),
    ...(task && { waitingOn: task.kind, userTaskId: task.id }),
    ...(hold && { hold }),
  }
}

/** The newest runs that undo calls, by `callKey` of those. */
export async function undoingRuns(
  services: ServerServices,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, UndoingRunView>> {
  const found = new Map<string, UndoingRunView>()
  for (const run of runs) {
    const undone = undoneCallOf(run)
    const view = undone && (await toUndoingRun(services, run))
    if (view) found.set(`${undone.runId} ${undone.callId}`, view)
  }
  return found
}
