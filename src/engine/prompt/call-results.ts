/** Results of calls, as the model reads them. */
import { textOf, type JsonValue } from '../../base/json/json.ts'
import { fromJsonList } from '../../base/json/typed-json.ts'
import type { CompletionRequest, ModelCall, ModelMessage } from '../../providers/provider.ts'
import type { RunStep } from '../../spec/step.ts'
import { mediaLeftOutOf, mediaOf, MOST_MEDIA_OF_RUN } from '../../spec/tool-media.ts'

/** Tool messages by call id. */
export function toolMessagesOf(steps: readonly RunStep[], results: CallResults): Map<string, ModelMessage> {
  const edited = editedArguments(steps)
  const repeated = new Set(
    steps.filter(({ content }) => content['repeated'] === true).map(({ content }) => textOf(content['tool_call_id'])),
  )
  const undone = new Map(
    steps.flatMap(({ content }) =>
      content['undone'] === undefined ? [] : [[textOf(content['tool_call_id']), textOf(content['undone'])] as const],
    ),
  )
  const hiddenParts = new Map(
    steps.flatMap(({ type, content, hidden }) =>
      type === 'ToolResult' && content['probe_of'] === undefined
        ? [[textOf(content['tool_call_id']), hidden] as const]
        : [],
    ),
  )
  return new Map(
    results.map(({ name, callId, result, isError }): [string, ModelMessage] => {
      const text = typeof result === 'string' ? result : JSON.stringify(result)
      const changed = edited.get(callId)
      const made =
        changed === undefined
          ? text
          : `Executed with arguments that a person edited: ${JSON.stringify(changed)}\n\n${text}`
      const content = repeated.has(callId)
        ? `repeated: this was done before and is not done again. The earlier result:\n\n${text}`
        : made
      const since = undone.get(callId)
      const shown = since === undefined ? content : `[${since} The result at that time:]\n\n${content}`
      const hidden = hiddenParts.get(callId)
      const beside = mediaOf(hidden)
      return [
        callId,
        {
          role: 'tool',
          callId,
          name,
          content: shown + describeLeftOut(mediaLeftOutOf(hidden)),
          ...(beside.length > 0 && { media: beside }),
          isError,
        },
      ]
    }),
  )
}

/** A line below a result whose files the run had no room for. */
function describeLeftOut(count: number): string {
  if (count === 0) return ''
  const files = count === 1 ? '1 file of this result is' : `${count} files of this result are`
  return `\n[${files} not shown, because a run keeps ${MOST_MEDIA_OF_RUN / 1024 ** 2} MiB of them]`
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

/** Results of calls, in order. */
export type CallResults = CompletionRequest['run']['results']

/** Results of all calls so far. */
export function resultsOf(steps: readonly RunStep[]): CallResults {
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
    const given: JsonValue = trace === undefined ? output : { output, ...more }
    const result: JsonValue = done
      ? given
      : { error: 'subagent_failed', status: status ?? null, message: step.error ?? '', ...more }
    // The result counts under the name of the child's agent and of the call that waited: the one that started the child, or the
    // one that took up its question. That one comes last, so that the message has its name.
    const child = children.get(step.content['child_run_id']) ?? ''
    const named = new Set([child, names.get(step.content['tool_call_id']) ?? child])
    return [...named].map((name) => ({ name, callId, result, isError: !done }))
  })
}

/** The calls of a completion. */
export function callsOf({ content }: RunStep): readonly ModelCall[] {
  const calls = content['tool_calls']
  return Array.isArray(calls) ? fromJsonList<ModelCall>(calls, 'id', 'name') : []
}
