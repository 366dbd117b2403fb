/** Tools that are recorded, or played from a recording. Source: decisions, section 13, "Record and replay". */
import type { JsonObject, JsonValue } from '../base/json.ts'
import { tapeRequest, type TapedRequest, type Cassette } from '../spec/cassette.ts'
import type { ToolOutcome, Toolbox } from './tool.ts'

/** The same tools with their outcomes recorded; or, where the cassette is played, their outcomes alone: nothing is done. */
export function withCassette(tools: Toolbox, { record, replay }: Cassette): Toolbox {
  if (!record && !replay) return tools
  const keep = ({ kind, key, request, toTape }: TapedRequest, answer: JsonObject): void =>
    record?.({ kind, key, request, answer: toTape(answer) })
  return {
    route(agent, tool) {
      const route = tools.route(agent, tool)
      if (!route) return undefined
      return {
        ...route,
        async invoke(invocation, signal) {
          const asked = tapeRequest('tool', { tool: tool.id, version: tool.version, arguments: invocation.arguments })
          if (replay) {
            const answer = replay.answer(asked)
            return answer ? (answer as unknown as ToolOutcome) : missed(replay.miss(asked))
          }
          const outcome = await route.invoke(invocation, signal)
          keep(asked, outcome as unknown as JsonObject)
          return outcome
        },
      }
    },
    async describe(agent, tool, signal) {
      const asked = tapeRequest('tool_schema', { agent: agent.id, tool: tool.id, version: tool.version })
      if (replay) return replay.answer(asked)?.['found'] as unknown as ReturnType<Toolbox['describe']>
      const found = await tools.describe(agent, tool, signal)
      keep(asked, found ? { found: found as unknown as JsonValue } : {})
      return found
    },
    unset: (agent) => (replay ? undefined : tools.unset(agent)),
    close: () => tools.close(),
  }
}

const missed = (error: string): ToolOutcome => ({ at: 'not_sent', code: 'refused', error })
