/** Messages to a run that works. Source: docs/design/steering.md#messages-to-working-runs */
import { requestCompletion } from '../limits/request-completion.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { abandonCompletion } from '../limits/unanswered.ts'

type Steered = TransitionEventOf<'steered'>

const keepMessage = (run: RunHandle, { message }: Steered): void =>
  run.updateUsage({ steering: [...(run.usage.steering ?? []), message] })

/** Queues the message for the next completion; an interrupting message also drops the present one. */
export function steerCompletion(
  run: RunHandle,
  here: StateAt<'thinking'>,
  event: Steered,
): StateAt<'thinking'> | ReturnType<typeof requestCompletion> {
  keepMessage(run, event)
  if (!event.interrupts || here.unsent) return here
  abandonCompletion(run)
  return requestCompletion(run, { ...here, attempt: here.attempt + 1, lost: (here.lost ?? 0) + 1 })
}

/** Queues the message for the next completion: a message does not stop calls in flight. */
export function steerCalls<Here extends StateAt<'calling' | 'backing_off'>>(
  run: RunHandle,
  here: Here,
  event: Steered,
): Here {
  keepMessage(run, event)
  return here
}
