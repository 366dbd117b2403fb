/**
 * A finished run as a scenario for `svc test`: its input, the results of its tools, the decisions of people, and its end.
 * The console and `svc runs scenario` get the same text.
 */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../base/json/json.ts'
import type { Conversation, TimelineItem } from '../spec/api.ts'

/** A mapping by block, its values in JSON, which YAML reads. */
export function writeScenario({ items, runs, session }: Conversation, name: string): string {
  const root = runs.find(({ depth }) => depth === 0)
  const steps = toRecordedSteps(items)
  const calls = steps.filter(({ type }) => type === 'ToolCall').map(({ content }) => content)
  const lines = [
    `scenario: ${JSON.stringify(name)}`,
    `agent: ${root?.agentName ?? ''}`,
    `input: ${JSON.stringify(session.input ?? {})}`,
    ...block('tools', doublesOf(steps)),
    ...list('decide', answersOfPeople(steps)),
    'expect:',
    `  status: ${session.status}`,
    ...(session.output == null ? [] : [`  output: ${JSON.stringify(session.output)}`]),
    ...list('calls', countCalls(calls), '  '),
    ...list('decisions', stoppedCalls(steps), '  '),
  ]
  return `${lines.join('\n')}\n`
}

/** A step with its content as an object. */
export interface RecordedStep {
  readonly type: TimelineItem['type']
  readonly runId: string
  readonly content: JsonObject
}

export const toRecordedSteps = (items: readonly TimelineItem[]): readonly RecordedStep[] =>
  items.map(({ type, runId, content }) => ({ type, runId, content: isJsonObject(content) ? content : {} }))

/** A call of a tool with the answer that it got; one that was never answered is not among them. */
export interface AnsweredCall {
  /** Logical id. */
  readonly tool: string
  readonly arguments: JsonValue
  readonly answer: { readonly result: JsonValue } | { readonly error: string }
}

/** Answered calls in order, each once, without those of svc itself. */
export function answeredCallsIn(steps: readonly RecordedStep[]): readonly AnsweredCall[] {
  const keyOf = ({ runId, content }: RecordedStep): string => `${runId} ${textOf(content['tool_call_id'])}`
  const answers = new Map(steps.filter(({ type }) => type === 'ToolResult').map((step) => [keyOf(step), step.content]))
  // A call that was repeated has a step for each attempt.
  const calls = new Map(steps.filter(({ type }) => type === 'ToolCall').map((step) => [keyOf(step), step.content]))
  return [...calls].flatMap(([key, { ref, arguments: args = {} }]) => {
    const answer = answers.get(key)
    const tool = textOf(ref)
    if (!answer || tool === '' || tool.startsWith('svc.')) return []
    const { result = null } = answer
    return [{ tool, arguments: args, answer: answer['is_error'] === true ? { error: errorOf(result) } : { result } }]
  })
}

/** The first answer of each tool; a double gives the same one every time. */
function doublesOf(steps: readonly RecordedStep[]): Readonly<Record<string, JsonValue>> {
  const doubles: Record<string, JsonValue> = {}
  for (const { tool, answer } of answeredCallsIn(steps)) doubles[tool] ??= answer
  return doubles
}

/** Tools report errors as text or as `{error}`. */
const errorOf = (result: JsonValue): string => {
  const inner = isJsonObject(result) ? (result['error'] ?? result) : result
  return typeof inner === 'string' ? inner : JSON.stringify(inner)
}

/** Answers of people, in order, as `decide` of a scenario has them. */
export function answersOfPeople(steps: readonly RecordedStep[]): readonly JsonObject[] {
  return steps.flatMap(({ type, content: request }) => {
    if (type !== 'UserTaskReq') return []
    const answer = steps.find(
      (each) => each.type === 'UserTaskRes' && each.content['user_task_id'] === request['user_task_id'],
    )?.content
    // A task that expired is answered by time.
    if (!answer || answer['completed_by'] === null) return []
    const tool = isJsonObject(request['tool']) ? textOf(request['tool']['ref']) : ''
    const about = { task: request['kind'] ?? null, ...(tool !== '' && { tool }) }
    // Where several people have to approve, each is a decision of its own.
    const votes = Array.isArray(answer['votes']) ? answer['votes'].filter(isJsonObject) : []
    if (votes.length > 1)
      return votes.map((vote) => ({
        ...about,
        ...(vote['approved'] === false ? { reject: true } : { approve: true }),
        ...who({ completed_by: vote['by'] ?? null }),
      }))
    return [{ ...about, ...answerOf(answer, request), ...who(answer) }]
  })
}

function answerOf(answer: JsonObject, request: JsonObject): JsonObject {
  const { selected_option_id: option, number_value: number, text_value: text, approved, comment } = answer
  if (typeof option === 'string') return { option }
  if (typeof number === 'number') return { number }
  if (approved === false) return { reject: textOf(comment) || true }
  const edited = isJsonObject(answer['metadata']) ? answer['metadata']['svc/arguments'] : undefined
  if (isJsonObject(edited)) return { edit: edited }
  if (typeof text === 'string' && request['kind'] === 'text') return { text }
  return { approve: true }
}

const who = ({ completed_by: by }: JsonObject): JsonObject => {
  const name = textOf(by).replace(/^operator:/, '')
  return name === '' ? {} : { as: name }
}

function countCalls(calls: readonly JsonObject[]): readonly JsonObject[] {
  const counts = new Map<string, JsonObject & { times: number }>()
  for (const { ref, arguments: args = {} } of calls) {
    const key = `${textOf(ref)} ${JSON.stringify(args)}`
    counts.set(key, { tool: textOf(ref), arguments: args, times: (counts.get(key)?.times ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** Decisions other than a plain allow. */
const stoppedCalls = (steps: readonly RecordedStep[]): readonly JsonObject[] =>
  steps.flatMap(({ type, runId, content }) => {
    if (type !== 'PolicyDecision' || content['decision'] === 'allow') return []
    const id = content['tool_call_id']
    const call = steps.find(
      (each) => each.type === 'UserTaskReq' && each.runId === runId && isAbout(each.content, content['name']),
    )
    const made = steps.find(
      (each) => each.type === 'ToolCall' && each.runId === runId && each.content['tool_call_id'] === id,
    )
    const tool = isJsonObject(call?.content['tool'])
      ? textOf(call.content['tool']['ref'])
      : textOf(made?.content['ref'])
    if (tool === '') return []
    const [first] = Array.isArray(content['policies']) ? content['policies'] : []
    const by = isJsonObject(first) ? textOf(first['id']) : ''
    return [{ tool, decision: content['decision'] ?? null, ...(by !== '' && { by }) }]
  })

const isAbout = (request: JsonObject, wire: JsonValue | undefined): boolean =>
  isJsonObject(request['tool']) && request['tool']['name'] === wire

const block = (key: string, values: Readonly<Record<string, JsonValue>>): readonly string[] =>
  Object.keys(values).length === 0
    ? []
    : [
        `${key}:`,
        ...Object.entries(values).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
      ]

const list = (key: string, values: readonly JsonValue[], indent = ''): readonly string[] =>
  values.length === 0 ? [] : [`${indent}${key}:`, ...values.map((value) => `${indent}  - ${JSON.stringify(value)}`)]
