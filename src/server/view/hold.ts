import { holdWithin, restoredHold, storageHold, waitsForAgent, type RunHold } from '../../spec/run/hold.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import type { ServerServices } from '../runtime/services.ts'

/** Why a running run, or a sub-agent that it waits for, makes no progress. A restore takes precedence over other holds. */
export async function readHold(
  { store, engine }: Pick<ServerServices, 'store' | 'engine'>,
  run: Run,
): Promise<RunHold | undefined> {
  if (isTerminal(run.status)) return undefined
  const restoredAt = await store.restoredAt(run.sessionId)
  if (restoredAt !== undefined) return restoredHold(restoredAt).hold
  if (run.status !== 'Running') return undefined
  const fullSince = engine.fullSince(run.sessionId)
  if (fullSince !== undefined) return storageHold(fullSince)
  return holdWithin(run, waitsForAgent(run) ? await store.treesOf(run.sessionId, [run.id]) : [], engine.nextAttempt)
}
