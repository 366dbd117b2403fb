/** Doubles of tools: scripted results, recorded answers, and tools that are not called at all. */
import type { Instant } from '../base/clock.ts'
import { parseDuration } from '../base/duration.ts'
import { canonicalJson, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { ownMember } from '../base/json/own-member.ts'
import type { BoundTool } from '../spec/snapshot.ts'
import { QuestionProblem, readQuestion } from '../tools/mcp/mcp-question.ts'
import { returnedOutcome, refusedOutcome } from '../tools/outcome.ts'
import { DEFAULT_TIMEOUT_MS, type ToolInvocation, type ToolOutcome, type Toolbox } from '../tools/tool.ts'
import type { ToolDouble } from './scenario.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A call for which nothing was scripted or recorded. */
export interface UnscriptedCall {
  /** Logical id. */
  readonly tool: string
  readonly arguments: JsonValue
}

interface DoubleParts {
  readonly doubles: Readonly<Record<string, ToolDouble>>
  readonly time: VirtualTime
  /** Fires when the scenario is over and ends doubles that never answer. */
  readonly ended: AbortSignal
  /** Told of calls whose arguments no recorded answer has. */
  readonly onUnscripted: (call: UnscriptedCall) => void
}

/** The toolbox with doubles in place of some tools. */
export function withDoubles(real: Toolbox, { doubles, time, ended, onUnscripted }: DoubleParts): Toolbox {
  const reachableAt = new Map<string, Instant>()
  /** False while the tool is out of reach, which begins with its first call. */
  const isReachable = (id: string, { unreachable }: ToolDouble): boolean => {
    const now = time.clock.now()
    const from = reachableAt.get(id) ?? now + (unreachable === undefined ? 0 : (parseDuration(unreachable) ?? 0))
    reachableAt.set(id, from)
    return now >= from
  }
  const given = new Map<string, number>()
  /** What the double says to this call: the next recorded answer, else its usual one; undefined where there is neither. */
  const answerOf = ({ id }: BoundTool, double: ToolDouble, call: ToolInvocation): ToolDouble | undefined => {
    if (!double.answers) return double
    const key = canonicalJson(call.arguments)
    const own = double.answers.filter((each) => canonicalJson(each.arguments) === key)
    const turn = given.get(`${id} ${key}`) ?? 0
    given.set(`${id} ${key}`, turn + 1)
    const answer = own[Math.min(turn, own.length - 1)]
    const { answers: _, result, error, ...manner } = double
    if (!answer) return result === undefined && error === undefined ? undefined : double
    return { ...manner, ...(answer.error === undefined ? { result: answer.result ?? null } : { error: answer.error }) }
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
          const answer = answerOf(tool, double, invocation)
          if (answer) return invokeDouble(answer, timeoutMs, time, AbortSignal.any([signal, ended]))
          onUnscripted({ tool: tool.id, arguments: invocation.arguments })
          return Promise.resolve(refusedOutcome(`No answer of ${tool.id} to these arguments was recorded.`))
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

/**
 * The toolbox without tools: what would reach another program or the network is not carried out. Mocks of the project file and
 * tools of svc stay.
 */
export function withoutTools(real: Toolbox, onUnscripted: DoubleParts['onUnscripted']): Toolbox {
  return {
    route(agent, tool) {
      const route = real.route(agent, tool)
      if (route?.route === 'mock' || route?.route === 'builtin') return route
      return {
        route: 'mock',
        timeoutMs: route?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        invoke(invocation) {
          onUnscripted({ tool: tool.id, arguments: invocation.arguments })
          return Promise.resolve(refusedOutcome(`${tool.id} has no double, and an evaluation calls no tool.`))
        },
      }
    },
    describe: (_, { description, inputSchema = { type: 'object' } }) =>
      Promise.resolve({ description, schema: inputSchema }),
    findUnsetSecret: () => undefined,
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
