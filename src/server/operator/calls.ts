/** The ledger of the calls of a run: keys, attempts and what became of each. Source: console, 2 (screen 3). */
import { toIsoText } from '../../base/clock.ts'
import type { CallView } from '../../spec/operator/runs.ts'
import { undoneCallOf } from '../../spec/run.ts'
import { findRun } from './find/find.ts'
import { subtreeOf } from './outline.ts'
import type { OperatorAction } from './people/act.ts'
import { undoingRuns } from './steer/undo.ts'

/** Of one session; the limits of a run allow fewer calls. */
const MAX_EFFECTS = 10_000

export const listCalls: OperatorAction<'GET /runs/:id/calls'> = async ({ services, id }) => {
  const { store } = services
  const run = await findRun(services, id)
  const runs = new Map(subtreeOf(run, await store.runsOfSession(run.sessionId)).map((each) => [each.id, each]))
  const [calls, effects] = await Promise.all([
    store.calls({ sessionId: run.sessionId }),
    store.effects({ workspaceId: run.workspaceId, sessionId: run.sessionId }, { skip: 0, take: MAX_EFFECTS }),
  ])
  const undoing = await undoingRuns(services, [...runs.values()])
  const effectOf = new Map(effects.map((effect) => [`${effect.runId} ${effect.callId}`, effect]))
  const items = calls
    .filter(({ runId }) => runs.has(runId))
    .sort((a, b) => a.at - b.at)
    .map((call): CallView => {
      const effect = effectOf.get(`${call.runId} ${call.callId}`)
      const undoneBy = undoing.get(`${call.runId} ${call.callId}`)
      const undoes = undoneCallOf(runs.get(call.runId)!)
      return {
        runId: call.runId,
        agent: runs.get(call.runId)!.agentName,
        toolCallId: call.callId,
        tool: call.ref,
        state: call.state,
        attempts: call.attempt,
        idempotencyKey: call.idempotencyKey,
        argsDigest: call.argumentsDigest,
        at: toIsoText(call.at),
        ...(undoneBy && { undoneBy }),
        ...(undoes && { undoes: { runId: undoes.runId, toolCallId: undoes.callId, tool: undoes.tool } }),
        ...(effect && { effect: { key: effect.shown, holds: effect.holds, outcome: effect.state } }),
      }
    })
  return { items, total: items.length }
}
