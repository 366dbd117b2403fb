/** Whether this server asks for checkpoints. Source: docs/design/audit.md#checkpoints-that-are-required */
import { parseDuration } from '../../base/duration.ts'
import type { Instant } from '../../base/clock.ts'
import type { CheckpointDemand } from '../../spec/steer/checkpoint-demand.ts'
import type { RuntimeOptions } from './options.ts'

/** @returns undefined also where nobody signs what happens: in development, and where a scenario is played */
export function checkpointDemandOf(
  { config, development, timers }: Pick<RuntimeOptions, 'config' | 'development' | 'timers'>,
  since: Instant,
): CheckpointDemand | undefined {
  const within = config.audit?.checkpoint_within
  if (within === undefined || development === true || timers) return undefined
  return { withinMs: parseDuration(within)!, since }
}
