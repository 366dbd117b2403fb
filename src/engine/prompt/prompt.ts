/**
 * Builds the request to the model from the steps of a run. Pure: file contents are passed in.
 * Source: docs/design/models-and-tools.md#prompts
 */
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { CompletionRequest, ModelMessage, ModelTool } from '../../providers/provider.ts'
import { withOutputLimit } from '../../providers/output-limit.ts'
import { estimateUsage } from '../../providers/tokens.ts'
import { withoutMedia } from '../../providers/tool-media.ts'
import type { Run } from '../../spec/run/run.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { resultsOf } from './call-results.ts'
import { dividedAt, leftOutOf, toLeftOutMessage, toSummaryPrompt, type LeftOut } from './left-out.ts'
import { messagesBefore, toEarlierMessages, type EarlierMessage, type SessionBefore } from './earlier.ts'
import { messagesOf, repairMessages, type AttachedParts } from './messages.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { undoneNotes } from '../session/undone.ts'

export interface PromptParts {
  readonly snapshot: AgentSnapshot
  readonly run: Run
  readonly turn: number
  readonly attempt: number
  readonly steps: readonly RunStep[]
  /** Messages of the session before the run. */
  readonly before?: readonly EarlierMessage[]
  readonly tools: readonly ModelTool[]
  readonly attachments: AttachedParts
  /** True for a completion that only repairs an invalid output. */
  readonly repair: boolean
  /** Set for a completion that only summarises the part to be left out. */
  readonly summarise?: LeftOut | undefined
  /** Overrides the part that the steps leave out. */
  readonly leftOut?: LeftOut | undefined
  /** Maximum of output tokens, where the model's own was too low. */
  readonly room?: number | undefined
}

export function toRequest({
  snapshot,
  run,
  turn,
  attempt,
  steps,
  before = [],
  tools,
  attachments,
  repair,
  summarise,
  leftOut = leftOutOf(steps),
  room,
}: PromptParts): CompletionRequest {
  const { output } = snapshot
  const results = resultsOf(steps)
  const toMessages = (some: readonly RunStep[]): ModelMessage[] =>
    messagesOf(some, results, attachments, snapshot.model.name)
  const earlier = leftOut ? [] : toEarlierMessages(steps, before)
  const begun = leftOut && dividedAt(steps, leftOut.through)
  const messages = begun
    ? [...toMessages(begun.first), toLeftOutMessage(leftOut), ...toMessages(begun.newer)]
    : [...earlier, ...toMessages(steps)]
  if (summarise) {
    const stays = toMessages(dividedAt(steps, summarise.through).newer).length
    return {
      model: snapshot.model,
      ...toSummaryPrompt(messages.slice(0, messages.length - stays)),
      tools: [],
      run: { id: run.id, input: run.input, turn, attempt, output: { format: 'text' }, results },
    }
  }
  return {
    model: room === undefined ? snapshot.model : withOutputLimit(snapshot.model, room),
    system: snapshot.instructions.text,
    messages: repair ? repairMessages(snapshot, steps) : messages,
    tools: repair ? [] : tools,
    ...(output.format === 'json' && output.strict && output.schema !== undefined && { outputSchema: output.schema }),
    run: {
      id: run.id,
      input: run.input,
      turn,
      attempt,
      ...(repair && { earlier: messages }),
      ...(earlier.length > 0 && { before: earlier.length }),
      output: { format: output.format, ...(output.schema !== undefined && { schema: output.schema }) },
      results,
    },
  }
}

/** The note of a completion that only summarises. */
export const summaryWanted = (note: JsonObject | undefined): LeftOut | undefined =>
  note?.['summarise'] === undefined ? undefined : fromJson<LeftOut>(note['summarise'], 'messages', 'through')

/** The parts of the run state that shape a request. */
interface CompletionTurn {
  readonly turn: number
  readonly room?: number
  readonly note?: JsonObject
}

/** The most tokens that a completion can use, estimated without its files. */
export const mostTokens = (run: RunHandle, wanted: CompletionTurn): number =>
  sentTokens(run, wanted) + (wanted.room ?? run.tx.context.mostOutput(run.snapshot))

/** The session as a run of it sees it. */
export const sessionBefore = ({ tx }: RunHandle): SessionBefore => ({
  said: tx.context.said,
  undone: undoneNotes(tx.runs(), () => tx.callRows()),
})

/** Input tokens of a completion, estimated without its files. */
export function sentTokens(run: RunHandle, { turn, note }: CompletionTurn, leftOut?: LeftOut): number {
  const snapshot = run.snapshot
  const request = toRequest({
    snapshot,
    run: run.record,
    turn,
    attempt: 1,
    steps: run.steps(),
    before: messagesBefore(run.record, sessionBefore(run)),
    tools: snapshot.tools.map(({ wire, description, inputSchema = true }) => ({
      name: wire,
      description,
      schema: inputSchema,
    })),
    attachments: new Map(),
    repair: note?.['repair'] === true,
    summarise: summaryWanted(note),
    ...(leftOut && { leftOut }),
  })
  return estimateUsage(withoutMedia(request), '', []).inputTokens
}
