import type { CommandContext } from '../../shell/command.ts'
import { followRunOnScreen, type FollowOptions } from '../../runs/follow.ts'
import { printInterrupted, printOutcome, type FollowAnswer } from '../../runs/outcome.ts'
import type { TaskPromptContext } from '../../runs/card/open-decision.ts'

/** Follows a run and prints how it ended, or where an interruption left it. Returns the exit code. */
export async function followToOutcome(
  call: CommandContext<FollowAnswer>,
  target: Omit<TaskPromptContext, 'call'>,
  options: FollowOptions,
): Promise<number> {
  try {
    return await printOutcome(call, await followRunOnScreen({ ...target, call }, options), options.events)
  } catch (error) {
    return printInterrupted(call, options.runId, error)
  }
}
