/** What holds a run, for operators: the status of a run names no person, no tool and no server. Source: docs/design/steering.md#pauses */
import { toIsoText } from '../../../base/clock.ts'
import type { RunId } from '../../../base/ids.ts'
import { DEFAULT_MAX_OUTAGE_MS } from '../../../engine/limits/outage.ts'
import { findHeld } from '../../../spec/run/hold.ts'
import { isTerminal, type Run } from '../../../spec/run/run.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { findPause, type EffectSubject } from '../../../spec/steer/pause.ts'
import { intactVersion } from '../../../store/altered-versions.ts'
import { readHold } from '../../view/hold.ts'
import { findRun } from '../find/find.ts'
import { subtreeOf } from '../outline.ts'
import type { OperatorAction } from '../people/act.ts'
import { lineOf, toPauseView } from './pauses.ts'

export const getHolders: OperatorAction<'GET /runs/:id/holders'> = async ({ services, id }) => {
  const { engine, store, workspace } = services
  const run = await findRun(services, id)
  const all = await store.runsOfSession(run.sessionId)
  const byId = new Map(all.map((each) => [each.id, each]))
  const open = subtreeOf(run, all).filter(({ status }) => !isTerminal(status))
  const pauses = await engine.pauses(workspace.id)
  const holding = new Set<(typeof pauses)[number]>()
  const outages = []
  for (const each of open) {
    const snapshot = (await intactVersion(store, each.agentVersionId))?.snapshot
    for (const subject of heldSubjects(each, byId, snapshot))
      for (const pause of pauses) if (findPause([pause], subject)) holding.add(pause)
    const held = findHeld(each.state)
    if (!held) continue
    const { cause, since, failures } = held.outage
    const until = toIsoText(since + (snapshot?.maxOutageMs ?? DEFAULT_MAX_OUTAGE_MS))
    outages.push({ runId: each.id, cause, since: toIsoText(since), failures, until })
  }
  return {
    runId: run.id,
    hold: (await readHold(services, run)) ?? null,
    pauses: [...holding].map(toPauseView),
    outages,
  }
}

/** What pauses of a run are about: its agents and versions, and the model or the tools whose effects are kept back. */
function heldSubjects(
  run: Run,
  byId: ReadonlyMap<RunId, Run>,
  snapshot: AgentSnapshot | undefined,
): readonly EffectSubject[] {
  const line = lineOf(run, byId)
  const { state } = run
  if (state.at === 'thinking' && state.paused !== undefined && snapshot)
    return [{ ...line, provider: snapshot.model.provider }]
  const calls = state.at === 'calling' ? state.calls : []
  const paused = calls.filter((call) => call.paused !== undefined && call.state.at !== 'settled')
  return [line, ...paused.map(({ ref }) => ({ ...line, tool: ref }))]
}
