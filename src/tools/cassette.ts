/** Records tool calls, or replays a recording. Source: docs/design/models-and-tools.md#record-and-replay */
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import { normalizeRequest, type NormalizedRequest, type Cassette } from '../spec/cassette.ts'
import type { ToolOutcome, Toolbox } from './tool.ts'

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
          })
          if (replay) {
            const answer = replay.answer(normalized)
            return answer ? (answer as unknown as ToolOutcome) : missedOutcome(replay.describeMiss(normalized))
          }
          const outcome = await route.invoke(invocation, signal)
          recordAnswer(normalized, outcome as unknown as JsonObject)
          return outcome
        },
      }
    },
    async describe(agent, tool, signal) {
      const normalized = normalizeRequest('tool_schema', { agent: agent.id, tool: tool.id, version: tool.version })
      if (replay) return replay.answer(normalized)?.['found'] as unknown as ReturnType<Toolbox['describe']>
      const found = await tools.describe(agent, tool, signal)
      recordAnswer(normalized, found ? { found: found as unknown as JsonValue } : {})
      return found
    },
    findUnsetSecret: (agent) => (replay ? undefined : tools.findUnsetSecret(agent)),
    close: () => tools.close(),
  }
}

const missedOutcome = (error: string): ToolOutcome => ({ at: 'not_sent', code: 'refused', error })
