/** Builds the request to the model from the steps of a run. Pure: file contents are passed in. Source: decisions, sections 4 and 11. */
import type { RunId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import {
  PAUSE_TURN,
  type CompletionRequest,
  type ModelMessage,
  type MessagePart,
  type ModelCall,
  type ModelTool,
} from '../../providers/provider.ts'
import { withOutputLimit } from '../../providers/output-limit.ts'
import { estimateUsage } from '../../providers/tokens.ts'
import { isFileRef } from '../../spec/file.ts'
import type { Run } from '../../spec/run.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep } from '../../spec/step.ts'
import { textOf } from './bindings.ts'
import type { SessionTransaction } from './transaction.ts'

/** Parts of a file by its leaf name. */
export type AttachedParts = ReadonlyMap<string, readonly MessagePart[]>

export interface PromptParts {
  readonly snapshot: AgentSnapshot
  readonly run: Run
  readonly turn: number
  readonly attempt: number
  readonly steps: readonly RunStep[]
  readonly tools: readonly ModelTool[]
  readonly attachments: AttachedParts
  /** True for a completion that only repairs an invalid output. */
  readonly repair: boolean
  /** Maximum of output tokens, where the model's own was too low. */
  readonly room?: number | undefined
}

export function toRequest({
  snapshot,
  run,
  turn,
  attempt,
  steps,
  tools,
  attachments,
  repair,
  room,
}: PromptParts): CompletionRequest {
  const { output } = snapshot
  const results = resultsOf(steps)
  const messages = messagesOf(steps, results, attachments, snapshot.model.name)
  return {
    model: room === undefined ? snapshot.model : withOutputLimit(snapshot.model, room),
    system: snapshot.instructions.text,
    messages: repair ? repairOf(snapshot, steps) : messages,
    tools: repair ? [] : tools,
    ...(output.format === 'json' && output.strict && output.schema !== undefined && { outputSchema: output.schema }),
    run: {
      id: run.id,
      input: run.input,
      turn,
      attempt,
      ...(repair && { earlier: messages }),
      output: { format: output.format, ...(output.schema !== undefined && { schema: output.schema }) },
      results,
    },
  }
}

/** The parts of the run state that shape a request. */
interface CompletionTurn {
  readonly turn: number
  readonly room?: number
  readonly note?: JsonObject
}

/** The most tokens that a completion can use, estimated without its files. */
export const mostTokens = (tx: SessionTransaction, id: RunId, wanted: CompletionTurn): number =>
  sentTokens(tx, id, wanted) + (wanted.room ?? tx.context.mostOutput(tx.snapshot(id)))

/** Input tokens of a completion, estimated without its files. */
export function sentTokens(tx: SessionTransaction, id: RunId, { turn, note }: CompletionTurn): number {
  const snapshot = tx.snapshot(id)
  const request = toRequest({
    snapshot,
    run: tx.run(id),
    turn,
    attempt: 1,
    steps: tx.stepsOf(id),
    tools: snapshot.tools.map(({ wire, description, inputSchema = true }) => ({
      name: wire,
      description,
      schema: inputSchema,
    })),
    attachments: new Map(),
    repair: note?.['repair'] === true,
  })
  return estimateUsage(request, '', []).inputTokens
}

/** If the input has only this property and it is text, that text is the message. Source: decisions, section 4. */
const MESSAGE_PROPERTIES: ReadonlySet<string> = new Set(['message', 'prompt', 'text', 'question', 'task'])

/** First user message of a run. */
export function firstMessage(input: JsonObject): string {
  const entries = Object.entries(input)
  if (entries.length === 0) return 'Begin.'
  const [key, value] = entries[0]!
  if (entries.length === 1 && MESSAGE_PROPERTIES.has(key) && typeof value === 'string') return value
  return JSON.stringify(input, null, 2)
}

/** Leaf names of the files marked anywhere in a value, in order. */
export function filesIn(value: JsonValue): readonly string[] {
  if (isFileRef(value)) return [value.filename]
  if (Array.isArray(value)) return value.flatMap(filesIn)
  return isJsonObject(value) ? Object.values(value).flatMap(filesIn) : []
}

/** Leaf names of the files that user messages carry. */
export const filesOf = (steps: readonly RunStep[]): readonly string[] => [
  ...new Set(steps.filter((step) => step.type === 'UserMessage').flatMap((step) => namesIn(step))),
]

function namesIn(step: RunStep): string[] {
  const { files } = step.content
  return Array.isArray(files)
    ? files.flatMap((each) => (isJsonObject(each) && typeof each['filename'] === 'string' ? [each['filename']] : []))
    : []
}

/** @param model its name; what a provider wants to see again goes only to the model that wrote it */
function messagesOf(
  steps: readonly RunStep[],
  results: ResultStyle,
  attachments: AttachedParts,
  model: string,
): ModelMessage[] {
  const messages: ModelMessage[] = []
  // Providers require the results right after the calls, so messages that a user sent meanwhile come after them.
  let later: ModelMessage[] = []
  const answers = answersOf(steps, results)
  const callIds = new Set(
    steps.flatMap((step) => (step.type === 'Reasoning' ? callsOf(step).map((call) => call.id) : [])),
  )
  const flush = (): void => {
    messages.push(...later)
    later = []
  }
  for (const step of steps) {
    if (step.type === 'UserMessage') {
      const files = namesIn(step).flatMap((name) => attachments.get(name) ?? [])
      // The text of a reply is already the result of the `ask_user` call.
      const text = step.content['reply_to'] === undefined ? [textPart(textOf(step.content['text']))] : []
      if (text.length + files.length > 0) later.push({ role: 'user', parts: [...text, ...files] })
    } else if (step.type === 'Reasoning' && step.error === null) {
      flush()
      const calls = callsOf(step)
      const text = textOf(step.content['text'])
      const hidden = (step.content['model'] ?? model) === model ? step.hidden : undefined
      messages.push({ role: 'assistant', text, calls, ...(hidden && { hidden }) })
      for (const call of calls) {
        const answer = answers.get(call.id)
        if (answer) messages.push(answer)
      }
    } else if (step.type === 'SubAgentResult' && !callIds.has(textOf(step.content['tool_call_id']))) {
      // No call to match: the child went on after its question was escalated automatically.
      const answer = answers.get(textOf(step.content['tool_call_id']))
      if (answer?.role === 'tool')
        later.push({ role: 'user', parts: [textPart(`A sub-agent has ended. ${answer.content}`)] })
    } else if (
      step.type === 'ToolResult' &&
      step.content['probe_of'] === undefined &&
      !callIds.has(textOf(step.content['tool_call_id']))
    ) {
      // No call to match either: the child asked another question after such an escalation.
      later.push({ role: 'user', parts: [textPart(`A sub-agent asks. ${JSON.stringify(step.content['result'])}`)] })
    } else if (step.type === 'OutputValidation' && step.content['valid'] === false) {
      later.push({ role: 'user', parts: [textPart(validationMessage(step))] })
    }
  }
  flush()
  return messages
}

const textPart = (text: string): MessagePart => ({ type: 'text', text })

const callsOf = (step: RunStep): readonly ModelCall[] =>
  (step.content['tool_calls'] ?? []) as unknown as readonly ModelCall[]

const validationMessage = (step: RunStep): string =>
  `Your answer is not valid: ${JSON.stringify(step.content['errors'])}. Answer again, with the whole JSON value and nothing else.`

/** Tool messages by call id. */
function answersOf(steps: readonly RunStep[], results: ResultStyle): Map<string, ModelMessage> {
  const edited = editedArguments(steps)
  return new Map(
    results.map(({ name, callId, result, isError }): [string, ModelMessage] => {
      const text = typeof result === 'string' ? result : JSON.stringify(result)
      const changed = edited.get(callId)
      const content =
        changed === undefined
          ? text
          : `Executed with arguments that a person edited: ${JSON.stringify(changed)}\n\n${text}`
      return [callId, { role: 'tool', callId, name, content, isError }]
    }),
  )
}

/** Sent arguments by call id, where a person edited those that the model gave. */
function editedArguments(steps: readonly RunStep[]): Map<string, JsonValue> {
  const proposed = new Map<string, JsonValue>(
    steps.flatMap((step) =>
      step.type === 'Reasoning' ? callsOf(step).map((call) => [call.id, call.arguments] as const) : [],
    ),
  )
  const edited = new Map<string, JsonValue>()
  for (const step of steps) {
    if (step.type !== 'ToolCall') continue
    const id = textOf(step.content['tool_call_id'])
    const sent = step.content['arguments'] ?? null
    // Usually the same object, which saves comparing the text.
    if (!proposed.has(id) || proposed.get(id) === sent) continue
    if (JSON.stringify(proposed.get(id)) !== JSON.stringify(sent)) edited.set(id, sent)
  }
  return edited
}

type ResultStyle = CompletionRequest['run']['results']

/** Results of all calls so far. */
function resultsOf(steps: readonly RunStep[]): ResultStyle {
  const names = new Map<JsonValue | undefined, string>()
  const children = new Map<JsonValue | undefined, string>()
  for (const { type, content } of steps) {
    if (type === 'SubAgentCall' || type === 'ToolCall') names.set(content['tool_call_id'], textOf(content['name']))
    if (type === 'SubAgentCall') children.set(content['child_run_id'], textOf(content['name']))
  }
  return steps.flatMap((step) => {
    const callId = textOf(step.content['tool_call_id'])
    // Probe results are for people, not for the model.
    if (step.content['probe_of'] !== undefined) return []
    if (step.type === 'ToolResult') {
      return [
        {
          name: textOf(step.content['name']),
          callId,
          result: step.content['result'] ?? null,
          isError: step.content['is_error'] === true,
        },
      ]
    }
    if (step.type !== 'SubAgentResult') return []
    const { status, output = null, steps: trace } = step.content
    const more = trace === undefined ? {} : { steps: trace }
    const done = status === 'Completed'
    const result: JsonValue = done
      ? trace === undefined
        ? output
        : { output, ...more }
      : { error: 'subagent_failed', status: status ?? null, message: step.error ?? '', ...more }
    // The result counts under the name of the child's agent and of the call that waited: the one that started the child, or the
    // one that took up its question. That one comes last, so that the message has its name.
    const child = children.get(step.content['child_run_id']) ?? ''
    const named = new Set([child, names.get(step.content['tool_call_id']) ?? child])
    return [...named].map((name) => ({ name, callId, result, isError: !done }))
  })
}

/** False for a failed completion, and for one that its provider paused. */
const isWholeAnswer = ({ type, error, content }: RunStep): boolean =>
  type === 'Reasoning' && error === null && content['finish_reason'] !== PAUSE_TURN

/** The request to repair an invalid answer: its errors, the schema, and the answer. */
function repairOf({ output }: AgentSnapshot, steps: readonly RunStep[]): ModelMessage[] {
  const answer = steps.findLast((step) => isWholeAnswer(step))
  const errors = steps.findLast((step) => step.type === 'OutputValidation')?.content['errors']
  const parts = [
    'Mend this JSON so that it is valid. Answer with the JSON value alone.',
    `Errors: ${JSON.stringify(errors ?? [])}`,
    ...(output.schema === undefined ? [] : [`Schema: ${JSON.stringify(output.schema)}`]),
    textOf(answer?.content['text']),
  ]
  return [{ role: 'user', parts: [textPart(parts.join('\n\n'))] }]
}
