/**
 * Runs and steps as spans, by the semantic conventions for generative AI, v0.1.0 of `open-telemetry/semantic-conventions-genai`: the one
 * place that knows their names. What they have no name for is below `svc.`. Prompts, arguments, answers and the texts of errors are in
 * no span, unless somebody asks for content. Source: docs/design/telemetry.md#names
 */
import type { Attributes } from '@opentelemetry/api'
import { shortenText } from '../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { Run } from '../../spec/run/run.ts'
import type { RunStep } from '../../spec/step.ts'

export const GENAI_SCHEMA_URL = 'https://opentelemetry.io/schemas/gen-ai/0.1.0'

export interface DescribedSpan {
  readonly name: string
  readonly kind: 'client' | 'internal'
  readonly attributes: Attributes
}

/** What a span says of a step. */
export type TracedStep = Pick<RunStep, 'runId' | 'type' | 'ordinal' | 'content' | 'error' | 'startedAt' | 'finishedAt'>

/** An error that the conventions have no name for. Its text may hold anything, so it is no attribute. */
const OTHER_ERROR = '_OTHER'

/** Longest content of an attribute, in characters: receivers refuse larger spans. */
const MOST_CONTENT = 32_768

/**
 * @param status in which it ended
 * @param withContent input and output are told, too
 */
export const describeRunSpan = (run: Run, status: string, withContent: boolean): DescribedSpan => ({
  name: `invoke_agent ${run.agentName}`,
  kind: 'internal',
  attributes: withoutAbsent({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': run.agentName,
    'gen_ai.agent.version': run.versionLabel,
    'gen_ai.conversation.id': run.sessionId,
    'gen_ai.usage.input_tokens': run.usage.inputTokens,
    'gen_ai.usage.output_tokens': run.usage.outputTokens,
    'svc.run.id': run.id,
    'svc.run.status': status,
    'svc.run.waited_ms': run.usage.waitedMs,
    'error.type': status === 'Failed' ? (run.errorCode ?? OTHER_ERROR) : undefined,
    ...(withContent && {
      'gen_ai.input.messages': messagesText('user', run.input),
      'gen_ai.output.messages': run.output === null ? undefined : messagesText('assistant', run.output),
    }),
  }),
})

/** The time in which a run worked, up to a pause. */
export const describeStretchSpan = (run: Run, status: string): DescribedSpan => ({
  name: `work ${run.agentName}`,
  kind: 'internal',
  attributes: {
    'gen_ai.agent.name': run.agentName,
    'gen_ai.conversation.id': run.sessionId,
    'svc.run.id': run.id,
    'svc.run.status': status,
  },
})

export interface StepFacts {
  readonly run: Pick<Run, 'sessionId' | 'agentName'>
  /** Steps of the run before this one, in order. */
  readonly earlier: readonly TracedStep[]
  /** What a call answered, where it is known. */
  readonly result?: TracedStep
  readonly withContent: boolean
}

/** Undefined for a step that takes no time: those are facts of the timeline. */
export function describeStepSpan(step: TracedStep, facts: StepFacts): DescribedSpan | undefined {
  const { type, content, error, ordinal } = step
  const shared = {
    'gen_ai.conversation.id': facts.run.sessionId,
    'svc.step.ordinal': ordinal,
    'error.type': error === null ? undefined : OTHER_ERROR,
  }
  switch (type) {
    case 'Reasoning':
      return describeCompletion(step, shared, facts)
    case 'ToolCall':
      return describeCall(step, shared, facts)
    case 'SubAgentCall':
      return {
        name: `delegate ${textOf(content['agent']) ?? ''}`,
        kind: 'internal',
        attributes: withoutAbsent({
          'gen_ai.tool.call.id': textOf(content['tool_call_id']),
          ...describeDecision(step, facts.earlier),
          ...shared,
        }),
      }
    case 'UserTaskReq':
      return {
        name: `wait ${textOf(content['kind']) ?? ''}`,
        kind: 'internal',
        attributes: withoutAbsent({ 'svc.task.id': textOf(content['user_task_id']), ...shared }),
      }
    default:
      return undefined
  }
}

function describeCompletion(
  { content }: TracedStep,
  shared: Attributes,
  { run, earlier, withContent }: StepFacts,
): DescribedSpan {
  const model = textOf(content['model']) ?? ''
  const finish = textOf(content['finish_reason'])
  const usage = isJsonObject(content['usage']) ? content['usage'] : {}
  const provider = textOf(content['provider'])
  return {
    name: `chat ${model}`.trim(),
    kind: 'client',
    attributes: withoutAbsent({
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': run.agentName,
      'gen_ai.provider.name': provider === undefined ? undefined : (PROVIDER_NAMES[provider] ?? provider),
      'gen_ai.request.model': model,
      'gen_ai.response.model': textOf(content['response_model']),
      'gen_ai.response.finish_reasons': finish === undefined ? undefined : [FINISH_REASONS[finish] ?? finish],
      'gen_ai.usage.input_tokens': numberOf(usage['input_tokens']),
      'gen_ai.usage.output_tokens': numberOf(usage['output_tokens']),
      'gen_ai.usage.cache_read.input_tokens': numberOf(usage['cached_input_tokens']),
      'gen_ai.usage.cache_creation.input_tokens': numberOf(usage['cache_write_tokens']),
      'gen_ai.usage.reasoning.output_tokens': numberOf(usage['reasoning_tokens']),
      ...(withContent && {
        'gen_ai.input.messages': printContent(newMessages(earlier)),
        'gen_ai.output.messages': printContent([answerOf(content, finish)]),
      }),
      ...shared,
    }),
  }
}

function describeCall(step: TracedStep, shared: Attributes, { earlier, result, withContent }: StepFacts) {
  const { content } = step
  const tool = textOf(content['ref']) ?? textOf(content['name']) ?? ''
  const failed = result?.content['is_error'] === true ? OTHER_ERROR : undefined
  return {
    name: `execute_tool ${tool}`,
    kind: 'internal' as const,
    attributes: withoutAbsent({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': toolTypeOf(content['route']),
      'gen_ai.tool.call.id': textOf(content['tool_call_id']),
      'svc.tool.version': textOf(content['version']),
      'svc.tool.route': textOf(content['route']),
      'svc.tool.side_effect_class': textOf(content['side_effect_class']),
      'svc.call.attempt': numberOf(content['attempt']),
      ...describeDecision(step, earlier),
      ...shared,
      'error.type': shared['error.type'] ?? failed,
      ...(withContent && {
        'gen_ai.tool.call.arguments': printContent(content['arguments'] ?? null),
        'gen_ai.tool.call.result': result && printContent(result.content['result'] ?? null),
      }),
    }),
  }
}

/** Providers that the conventions name otherwise; a provider with a name of the project file keeps it. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  bedrock: 'aws.bedrock',
  'azure-openai': 'azure.ai.openai',
}

const FINISH_REASONS: Readonly<Record<string, string>> = { tool_calls: 'tool_call', context: 'length' }

/** `function` for what svc calls for the model, `extension` for what another server executes. */
const toolTypeOf = (route: JsonValue | undefined): string =>
  route === 'mcp' || route === 'http' || route === 'openapi' ? 'extension' : 'function'

/** The newest decision about the call before it was sent. */
function describeDecision({ content }: TracedStep, earlier: readonly TracedStep[]): Attributes {
  const decision = earlier.findLast(
    (each) => each.type === 'PolicyDecision' && each.content['tool_call_id'] === content['tool_call_id'],
  )
  const policies = decision?.content['policies']
  const matched = (Array.isArray(policies) ? policies : [])
    .filter(isJsonObject)
    .filter((each) => each['matched'] === true)
  return {
    'svc.decision': textOf(decision?.content['decision']),
    'svc.policy.ids': matched.flatMap(({ id }) => textOf(id) ?? []),
    'svc.policy.sources': matched.flatMap(({ source }) => textOf(source) ?? []),
  }
}

/** What was said since the last answer of the model: the whole prompt would repeat itself with each turn. */
function newMessages(earlier: readonly TracedStep[]): JsonValue[] {
  const last = earlier.findLastIndex(({ type, error }) => type === 'Reasoning' && error === null)
  return earlier.slice(last + 1).flatMap(({ type, content }): JsonValue[] => {
    if (type === 'UserMessage') return [{ role: 'user', parts: [textPart(textOf(content['text']) ?? '')] }]
    if (type !== 'ToolResult') return []
    const id = content['tool_call_id'] ?? null
    return [{ role: 'tool', parts: [{ type: 'tool_call_response', id, response: content['result'] ?? null }] }]
  })
}

function answerOf(content: JsonObject, finish: string | undefined): JsonValue {
  const text = textOf(content['text'])
  const calls = Array.isArray(content['tool_calls']) ? content['tool_calls'].filter(isJsonObject) : []
  return {
    role: 'assistant',
    parts: [
      ...(text === undefined ? [] : [textPart(text)]),
      ...calls.map((call): JsonValue => ({ type: 'tool_call', ...call })),
    ],
    finish_reason: finish === undefined ? 'stop' : (FINISH_REASONS[finish] ?? finish),
  }
}

const textPart = (content: string): JsonValue => ({ type: 'text', content })

const messagesText = (role: string, value: JsonValue): string =>
  printContent([{ role, parts: [textPart(typeof value === 'string' ? value : JSON.stringify(value))] }])

const printContent = (value: JsonValue): string => shortenText(JSON.stringify(value), MOST_CONTENT)

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const numberOf = (value: JsonValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

const withoutAbsent = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  )
