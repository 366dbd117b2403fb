/** The decision of one task while its card is open: what is known, shown, and was done with it. */
import { wrapText } from '../../../terminal/text.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { SvcClient, TaskDecision } from '../../../client/index.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import type { SeenLines } from '../../shell/screen/view-lines.ts'
import type { CardSurface } from './card-surface.ts'

export interface TaskPromptContext<Answer = never> {
  readonly call: CommandContext<Answer>
  readonly client: SvcClient
  readonly answering: SvcClient
  /** Absent where a key answers. */
  readonly operator?: OperatorClient
  /** `namespace.name@version` of the run that is followed, as far as it is known. */
  readonly agent: string
  /** Why the task cannot be left open here; the card says so when somebody tries. */
  readonly whyNow?: string
}

/** What a card shows beyond the task, and what was done with it. */
export interface OpenDecision {
  readonly session: TaskPromptContext
  readonly runId: string
  readonly surface: CardSurface
  readonly signal: AbortSignal
  /** How much was seen of the card, unfolded, and of which content. */
  viewed: (SeenLines & { readonly content: string }) | undefined
  /** What was shown last to be decided, and since when: monotonic milliseconds. */
  shown: { readonly content: string; readonly at: number } | undefined
  /** The open panel, by the key that opens it, and its lines; without a key, a notice that the next key removes. */
  panel: { readonly key: string; readonly lines: readonly string[] } | undefined
}

export const createDecision = (
  session: TaskPromptContext,
  runId: string,
  surface: CardSurface,
  signal: AbortSignal,
): OpenDecision => ({ session, runId, surface, signal, viewed: undefined, shown: undefined, panel: undefined })

export type PromptAnswer = TaskDecision | 'later' | 'again'

/** Shows a sentence above the keys, until the next one. */
export function tell(decision: OpenDecision, text: string): void {
  const { canvas } = decision.surface
  decision.panel = { key: '', lines: wrapText(safeText(text), canvas.width - 2).map(canvas.theme.bad) }
}

/** Shows a sentence on the card and asks again. */
export function again(decision: OpenDecision, text: string): 'again' {
  tell(decision, text)
  return 'again'
}
