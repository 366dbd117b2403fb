import type { CommandContext } from '../../shell/command.ts'
import { followRunOnScreen, type FollowOptions } from '../../runs/follow.ts'
import { printInterrupted, printOutcome, type FollowAnswer } from '../../runs/outcome.ts'
import { isUndoOffered, offerUndo, readUndoPlan } from '../../runs/offer-undo.ts'
import type { TaskPromptContext } from '../../runs/card/open-decision.ts'

/** Follows a run and prints how it ended, or where an interruption left it. Returns the exit code. */
export async function followToOutcome(
  call: CommandContext<FollowAnswer>,
  target: Omit<TaskPromptContext, 'call'>,
  options: FollowOptions,
): Promise<number> {
  try {
    const followed = await followRunOnScreen({ ...target, call }, options)
    const code = await printOutcome(call, followed, options.events)
    if (!call.mode.json && isUndoOffered(followed.run))
      offerUndo(call, followed.run, await readUndoPlan(target.operator, followed.run))
    return code
  } catch (error) {
    return printInterrupted(call, options.runId, error)
  }
}
