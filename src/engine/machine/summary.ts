/** Takes up the summary of the messages that a prompt leaves out, and requests the completion that it was made for. */
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { RunState } from '../../spec/run/run.ts'
import { applyLimit, findBreachAfterCompletion, haltAncestor } from '../limits/limits.ts'
import { requestCompletion } from '../limits/request-completion.ts'
import type { TransitionEventOf } from '../session/event.ts'
import { toLeftOutContent, type LeftOut } from '../prompt/left-out.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { countCompletion } from '../transaction/usage.ts'

/** What is left out, and the limit that wants it so. */
interface WantedSummary extends LeftOut {
  readonly value: number
  readonly used: number
}

/** A summary that is cut or empty counts as none: the messages are then left out without one. */
export function applySummary(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { completion, fallback }: TransitionEventOf<'model.answered'>,
): RunState {
  const { summarise, ...note } = here.note ?? {}
  const { value, used, through, messages } = fromJson<WantedSummary>(summarise, 'value', 'used', 'through', 'messages')
  const { finishReason, usage } = completion
  const text = completion.text.trim()
  const isWhole = finishReason === 'stop' && text !== ''
  const model = fallback?.model ?? run.snapshot.model
  run.addStep(
    'LimitReached',
    {
      limit: 'context_window',
      value,
      used,
      action: isWhole ? 'summarise' : 'leave_out',
      ...toLeftOutContent({ through, messages, ...(isWhole && { summary: text }) }),
      model: model.name,
      provider: model.provider,
      ...countCompletion(run, model, usage),
    },
    { tokens: usage.inputTokens + usage.outputTokens },
  )
  const { turn, attempt, lost = 0 } = here
  const next: StateAt<'thinking'> = {
    at: 'thinking',
    turn,
    attempt: attempt + 1,
    lost: lost + 1,
    ...(Object.keys(note).length > 0 && { note: note as JsonObject }),
  }
  if (haltAncestor(run, (spent, most) => spent > most)) return { ...next, unsent: true }
  const breach = findBreachAfterCompletion(run, false)
  return breach ? applyLimit(run, breach, next) : requestCompletion(run, next)
}
