/**
 * Runs and steps as spans, by the semantic conventions for generative AI, v0.1.0 of `open-telemetry/semantic-conventions-genai`. What
 * these have no name for is below `svc.`. Prompts, arguments, answers and the texts of errors are in no span.
 * Source: docs/design/command-line.md#serving
 */
import type { Attributes } from '@opentelemetry/api'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { Run } from '../../spec/run.ts'
import { traceOfRun } from '../../spec/run-trace.ts'
import type { RunStep } from '../../spec/step.ts'

export interface DescribedSpan {
  readonly name: string
  readonly kind: 'client' | 'internal'
  readonly attributes: Attributes
}

export const describeRunSpan = (run: Run): DescribedSpan => ({
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
    // What is called carries this trace, which an SDK cannot be told where no caller named it.
    'svc.run.trace_id': traceOfRun(run).traceId,
    'svc.run.status': run.status,
    'svc.run.waited_ms': run.usage.waitedMs,
    'error.type': run.errorCode ?? (run.error === null ? undefined : OTHER_ERROR),
  }),
})

/** An error that the conventions have no name for. Its text may hold anything, so it is no attribute. */
const OTHER_ERROR = '_OTHER'

/** Undefined for a step that takes no time: those are facts of the timeline. @param steps those of the session, with its decisions */
export function describeStepSpan(step: RunStep, steps: readonly RunStep[]): DescribedSpan | undefined {
  const { type, content, error, ordinal } = step
  const shared = { 'svc.step.ordinal': ordinal, 'error.type': error === null ? undefined : OTHER_ERROR }
  switch (type) {
    case 'Reasoning':
      return describeCompletion(content, shared)
    case 'ToolCall': {
      const tool = textOf(content['ref']) ?? textOf(content['name']) ?? ''
      return {
        name: `execute_tool ${tool}`,
        kind: 'internal',
        attributes: withoutAbsent({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.type': toolTypeOf(content['route']),
          'gen_ai.tool.call.id': textOf(content['tool_call_id']),
          'svc.tool.version': textOf(content['version']),
          'svc.tool.route': textOf(content['route']),
          'svc.tool.side_effect_class': textOf(content['side_effect_class']),
          'svc.call.attempt': numberOf(content['attempt']),
          ...describeDecision(step, steps),
          ...shared,
        }),
      }
    }
    case 'SubAgentCall':
      return {
        name: `delegate ${textOf(content['agent']) ?? ''}`,
        kind: 'internal',
        attributes: withoutAbsent({
          'gen_ai.tool.call.id': textOf(content['tool_call_id']),
          ...describeDecision(step, steps),
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

function describeCompletion(content: JsonObject, shared: Attributes): DescribedSpan {
  const model = textOf(content['model']) ?? ''
  const finish = textOf(content['finish_reason'])
  const usage = isJsonObject(content['usage']) ? content['usage'] : {}
  const provider = textOf(content['provider'])
  return {
    name: `chat ${model}`.trim(),
    kind: 'client',
    attributes: withoutAbsent({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider === undefined ? undefined : (PROVIDER_NAMES[provider] ?? provider),
      'gen_ai.request.model': model,
      'gen_ai.response.finish_reasons': finish === undefined ? undefined : [FINISH_REASONS[finish] ?? finish],
      'gen_ai.usage.input_tokens': numberOf(usage['input_tokens']),
      'gen_ai.usage.output_tokens': numberOf(usage['output_tokens']),
      'gen_ai.usage.cache_read.input_tokens': numberOf(usage['cached_input_tokens']),
      'gen_ai.usage.cache_creation.input_tokens': numberOf(usage['cache_write_tokens']),
      'gen_ai.usage.reasoning.output_tokens': numberOf(usage['reasoning_tokens']),
      ...shared,
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
function describeDecision({ runId, ordinal, content }: RunStep, steps: readonly RunStep[]): Attributes {
  const decision = steps.findLast(
    (each) =>
      each.type === 'PolicyDecision' &&
      each.runId === runId &&
      each.ordinal < ordinal &&
      each.content['tool_call_id'] === content['tool_call_id'],
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

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const numberOf = (value: JsonValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined)

const withoutAbsent = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  )
