import { setTimeout as after } from 'node:timers/promises'
import type { SessionId } from '../base/ids.ts'
import type { SessionTree } from '../store/session-update.ts'
import type { ScenarioServer } from './scenario-server.ts'
import { expectDefined } from '../base/values/expect-defined.ts'

/** Polling interval: the store does not notify of changes. */
const POLL_MS = 2

/** Unchanged polls after which calls that the engine could still move count as waiting for a person. */
const STILL_POLLS = 5

/** Resolves when the run has ended, or can continue only after the clock moves or somebody answers. */
export async function waitUntilIdle(
  { store, time }: ScenarioServer,
  sessionId: SessionId,
  signal: AbortSignal,
): Promise<SessionTree> {
  let lastVersion = -1
  let unchangedPolls = 0
  for (;;) {
    const tree = expectDefined(await store.load(sessionId), 'the session of the run is stored')
    if (hasEnded(tree)) return tree
    unchangedPolls = tree.session.version === lastVersion ? unchangedPolls + 1 : 0
    lastVersion = tree.session.version
    const due = await store.nextTimerAt()
    const { waits, moves } = countWork(tree)
    const isStill = waits <= time.asleep.count && (moves === 0 || unchangedPolls >= STILL_POLLS)
    if (isStill && (due === undefined || due > time.clock.now())) return tree
    await after(POLL_MS, undefined, { signal })
  }
}

/** True if every run has ended. In an ended session, a run that undoes its calls may still work. */
export const hasEnded = ({ runs }: SessionTree): boolean => runs.every(({ state }) => state.at === 'done')

/** Counts the calls that wait for a model or a tool, and the work that the engine has yet to do. */
function countWork({ runs }: SessionTree): { readonly waits: number; readonly moves: number } {
  let [waits, moves] = [0, 0]
  for (const { state } of runs) {
    // A paused completion waits for the operator who paused it.
    if (state.at === 'thinking' && state.unsent) moves++
    else if (state.at === 'thinking') waits++
    if (state.at !== 'calling') continue
    for (const call of state.calls) {
      if (call.state.at === 'sent') waits++
      if (call.state.at === 'proposed' || call.state.at === 'ready') moves++
    }
    if (state.calls.every((call) => call.state.at === 'settled')) moves++
  }
  return { waits, moves }
}
