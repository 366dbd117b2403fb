import { fail } from '../base/failure.ts'
import type { Call } from './command.ts'
import type { FollowOptions, OnTask, Show } from './follow.ts'
import { durationMs } from './numbers.ts'

/** The options that `run` and `runs watch` share. */
export function readFollowOptions({ given, mode }: Call): Omit<FollowOptions, 'runId'> {
  const onTask = (given.text('on-task') ?? (mode.interactive ? 'prompt' : 'exit')) as OnTask
  if (onTask === 'prompt' && !mode.interactive)
    throw fail('needs_terminal', { what: 'Nobody can be asked here.' }, { fix: '--on-task wait, exit or reject' })
  const maxWaitMs = durationMs(given.text('max-wait'), 'max-wait')
  return {
    onTask,
    show: (given.text('show') ?? 'steps') as Show,
    events: given.flag('events'),
    ...(maxWaitMs !== undefined && { maxWaitMs }),
  }
}
