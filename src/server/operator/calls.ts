/** The ledger of the calls of a run: keys, attempts and outcome of each. Source: docs/design/console.md#screens */
import { giveWay, startWork } from '../../base/event-loop.ts'
import { toIsoText } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { CallView } from '../../operations/runs.ts'
import { undoneCallOf } from '../../spec/run/run.ts'
import type { CallStateRow } from '../../store/session-update.ts'
import type { ServerServices } from '../runtime/services.ts'
import { findRun } from './find/find.ts'
import { subtreeOf } from './outline.ts'
import type { OperatorAction } from './people/act.ts'
import { undoingRuns } from './steer/undo.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Maximum calls of one run and those below it; the limits of a run allow fewer. */
const MAX_EFFECTS = 10_000
const MAX_CALLS = 10_000
/** Calls read per query. */
const PAGE = 500

export const listCalls: OperatorAction<'GET /runs/:id/calls'> = async ({ services, id }) => {
  const { store } = services
  const run = await findRun(services, id)
  const runs = new Map(subtreeOf(run, await store.treesOf(run.sessionId, [run.id])).map((each) => [each.id, each]))
  const runIds = [...runs.keys()]
  const [calls, effects] = await Promise.all([
    readStates(services, run.sessionId, runIds),
    store.effects({ workspaceId: run.workspaceId, sessionId: run.sessionId, runIds }, { skip: 0, take: MAX_EFFECTS }),
  ])
  const undoing = await undoingRuns(services, [...runs.values()])
  const effectOf = new Map(effects.map((effect) => [`${effect.runId} ${effect.callId}`, effect]))
  const items = calls
    .toSorted((a, b) => a.at - b.at)
    .map((call): CallView => {
      const run = expectDefined(runs.get(call.runId), 'calls were read of these runs')
      const effect = effectOf.get(`${call.runId} ${call.callId}`)
      const undoneBy = undoing.get(`${call.runId} ${call.callId}`)
      const undoes = undoneCallOf(run)
      return {
        runId: call.runId,
        agent: run.agentName,
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

async function readStates(
  { store }: ServerServices,
  sessionId: SessionId,
  runIds: readonly RunId[],
): Promise<CallStateRow[]> {
  const all: CallStateRow[] = []
  for (;;) {
    const tookLong = startWork()
    const page = await store.callStates(sessionId, runIds, all.at(-1) ?? null, PAGE)
    all.push(...page)
    if (page.length < PAGE || all.length >= MAX_CALLS) return all
    if (tookLong()) await giveWay()
  }
}
