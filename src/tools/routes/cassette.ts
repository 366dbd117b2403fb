/** Records tool calls, or replays a recording. Source: docs/design/models-and-tools.md#record-and-replay */
import type { JsonObject } from '../../base/json/json.ts'
import { fromJson, toJson } from '../../base/json/typed-json.ts'
import { normalizeRequest, type NormalizedRequest, type Cassette } from '../../spec/project/cassette.ts'
import type { DescribedTool, ToolOutcome, Toolbox } from '../tool.ts'
import { refusedOutcome } from '../outcome.ts'

/** Wraps tools to record their outcomes. When the cassette replays, calls get recorded outcomes and nothing is executed. */
export function withToolCassette(tools: Toolbox, { record, replay }: Cassette): Toolbox {
  if (!record && !replay) return tools
  const recordAnswer = ({ kind, key, request, toRecorded }: NormalizedRequest, answer: JsonObject): void =>
    record?.({ kind, key, request, answer: toRecorded(answer) })
  return {
    route(agent, tool) {
      const route = tools.route(agent, tool)
      if (!route) return undefined
      return {
        ...route,
        async invoke(invocation, signal) {
          const normalized = normalizeRequest('tool', {
            tool: tool.id,
            version: tool.version,
            arguments: invocation.arguments,
            // The same call with answers is another request.
            ...(invocation.input && { input: toJson(invocation.input) }),
          })
          if (replay) {
            const answer = replay.answer(normalized)
            return answer ? fromJson<ToolOutcome>(answer, 'at') : refusedOutcome(replay.describeMiss(normalized))
          }
          const outcome = await route.invoke(invocation, signal)
          recordAnswer(normalized, toJson(outcome))
          return outcome
        },
      }
    },
    async describe(agent, tool, signal) {
      const normalized = normalizeRequest('tool_schema', { agent: agent.id, tool: tool.id, version: tool.version })
      if (replay) {
        const recorded = replay.answer(normalized)?.['found']
        return recorded === undefined ? undefined : fromJson<DescribedTool>(recorded)
      }
      const found = await tools.describe(agent, tool, signal)
      recordAnswer(normalized, found ? { found: toJson(found) } : {})
      return found
    },
    findUnsetSecret: (agent) => (replay ? undefined : tools.findUnsetSecret(agent)),
    close: () => tools.close(),
  }
}
