/** What is paused now: by operators, and everything for want of a checkpoint. Source: docs/design/steering.md#pauses */
import type { WorkspaceId } from '../../base/ids.ts'
import { pauseForCheckpoint } from '../../spec/steer/checkpoint-demand.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { EngineParts } from '../interface/engine.ts'

export async function readPausesInForce(
  { store, clock, checkpoints }: Pick<EngineParts, 'store' | 'clock' | 'checkpoints'>,
  workspaceId: WorkspaceId,
): Promise<readonly PauseAct[]> {
  const byOperators = await store.pauses(workspaceId)
  if (!checkpoints) return byOperators
  const pause = pauseForCheckpoint(checkpoints, await store.checkpointReport(workspaceId), clock.now())
  return pause ? [...byOperators, pause] : byOperators
}
