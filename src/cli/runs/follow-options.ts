import { fail } from '../../base/failure.ts'
import type { CommandContext } from '../shell/command.ts'
import type { FollowDetail } from './event-display.ts'
import type { FollowOptions } from './follow.ts'
import type { OnTask } from './wait-handler.ts'
import { durationMs } from '../shell/numbers.ts'

/** The options that `run` and `runs watch` share. */
export function readFollowOptions({ given, mode }: CommandContext): Omit<FollowOptions, 'runId'> {
  const onTask = (given.text('on-task') ?? (mode.interactive ? 'prompt' : 'exit')) as OnTask
  if (onTask === 'prompt' && !mode.interactive)
    throw fail('needs_terminal', { what: 'Nobody can be asked here.' }, { fix: '--on-task wait, exit or reject' })
  const maxWaitMs = durationMs(given.text('max-wait'), 'max-wait')
  return {
    onTask,
    show: (given.text('show') ?? 'steps') as FollowDetail,
    events: given.flag('events'),
    ...(maxWaitMs !== undefined && { maxWaitMs }),
  }
}
