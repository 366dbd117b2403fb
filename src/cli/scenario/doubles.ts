/** Replaces tools with doubles that return results of the scenario. Source: docs/design/command-line.md#tests */
import type { Instant } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { QuestionProblem, readQuestion } from '../../tools/mcp-question.ts'
import { returnedOutcome } from '../../tools/outcome.ts'
import { DEFAULT_TIMEOUT_MS, type ToolOutcome, type Toolbox } from '../../tools/tool.ts'
import type { ToolDouble } from './scenario.ts'
import type { VirtualTime } from './virtual-time.ts'
import { ownMember } from '../../base/json/own-member.ts'

/**
 * The toolbox with doubles in place of some tools.
 * @param ended fires when the scenario is over and ends doubles that never answer
 */
export function withDoubles(
  real: Toolbox,
  doubles: Readonly<Record<string, ToolDouble>>,
  time: VirtualTime,
  ended: AbortSignal,
): Toolbox {
  const reachableAt = new Map<string, Instant>()
  /** False while the tool is out of reach, which begins with its first call. */
  const isReachable = (id: string, { unreachable }: ToolDouble): boolean => {
    const now = time.clock.now()
    const from = reachableAt.get(id) ?? now + (unreachable === undefined ? 0 : (parseDuration(unreachable) ?? 0))
    reachableAt.set(id, from)
    return now >= from
  }
  const doubleOf = ({ id }: BoundTool): ToolDouble | undefined => ownMember(doubles, id)
  return {
    route(agent, tool) {
      const double = doubleOf(tool)
      if (!double) return real.route(agent, tool)
      const timeoutMs = real.route(agent, tool)?.timeoutMs ?? DEFAULT_TIMEOUT_MS
      return {
        route: 'mock',
        timeoutMs,
        invoke(invocation, signal) {
          if (!isReachable(tool.id, double)) return Promise.resolve(UNREACHABLE)
          if (double.asks && !invocation.input) return Promise.resolve(askFirst(double.asks))
          return invokeDouble(double, timeoutMs, time, AbortSignal.any([signal, ended]))
        },
      }
    },
    async describe(agent, tool, signal) {
      if (!doubleOf(tool)) return real.describe(agent, tool, signal)
      return { description: tool.description, schema: { type: 'object' } }
    },
    findUnsetSecret: (agent) =>
      real.findUnsetSecret({ ...agent, tools: agent.tools.filter((tool) => !doubleOf(tool)) }),
    close: () => real.close(),
  }
}

const UNREACHABLE: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'The double cannot be reached.' }

function askFirst(asks: JsonObject): ToolOutcome {
  try {
    return { at: 'asked', questions: [readQuestion('question', asks)] }
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error
    return returnedOutcome(`The double ${error.message}.`, true, 0)
  }
}

async function invokeDouble(
  { result, error, delay, drop }: ToolDouble,
  timeoutMs: number,
  time: VirtualTime,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const ms = drop ? Infinity : (parseDuration(delay ?? '0s') ?? 0)
  try {
    if (ms > 0) await time.wait(Math.min(ms, timeoutMs), signal)
  } catch {
    return { at: 'unknown', code: 'broken', error: 'The double did not answer.' }
  }
  if (ms > timeoutMs) return { at: 'unknown', code: 'timeout', error: `There was no answer within ${timeoutMs} ms.` }
  return error === undefined ? returnedOutcome(result ?? null, false, ms) : returnedOutcome(error, true, ms)
}
