/** An in-memory server for a scenario, with virtual time and doubles for tools. */
import type { Instant } from '../../base/clock.ts'
import { workspaceIdOf, type RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { silentLog } from '../../base/log.ts'
import { openOperator } from '../../server/open.ts'
import { toAnswer } from '../../server/routes/messages.ts'
import { parseMessage } from '../../server/http/validate.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { Cassette } from '../../spec/cassette.ts'
import type { DecisionOrigin } from '../../spec/decision-proof.ts'
import type { Principal } from '../../spec/key.ts'
import type { PauseTarget } from '../../spec/steer/pause.ts'
import type { CompiledBundle, BoundTool } from '../../spec/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { createOperator, type OperatorClient } from '../project/server/operator.ts'
import type { Project } from '../project/project.ts'
import { projectServerOptions } from '../project/server/server-options.ts'
import { applyOutside, withTokens, type DueEvent, type PausedSubject } from './outside.ts'
import type { ToolDouble } from './scenario.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'
import { parseDuration } from '../../base/duration.ts'
import { QuestionProblem, readQuestion } from '../../tools/mcp-question.ts'
import { returnedOutcome } from '../../tools/outcome.ts'
import { DEFAULT_TIMEOUT_MS, type ToolOutcome, type Toolbox } from '../../tools/tool.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface ScenarioServer {
  readonly operator: OperatorClient
  readonly store: Store
  readonly time: VirtualTime
  /** Sends a message as a person; id and roles are not checked. */
  answer(
    runId: string,
    message: JsonObject,
    by: { readonly id?: string; readonly roles?: readonly string[] },
  ): Promise<MessageAccepted>
  /**
   * Applies an outside event.
   * @returns the reason of a refusal; undefined if it was accepted
   */
  applyOutside(due: DueEvent): Promise<string | undefined>
  /** Pauses something as an operator, or lets it go on. @throws RemoteError where nothing has this name */
  setPaused(subject: PausedSubject, isPaused: boolean): Promise<void>
  close(): Promise<void>
}

const IN_SCENARIO: DecisionOrigin = { channel: 'scenario', proof: 'hardware' }

/** A fixed start, a Thursday morning, so that conditions on time are repeatable. */
const START: Instant = Date.UTC(2026, 0, 1, 9)

export async function openScenarioServer(
  project: Project,
  bundles: readonly CompiledBundle[],
  doubles: Readonly<Record<string, ToolDouble>>,
  env: Readonly<Record<string, string | undefined>>,
  cassette: Cassette = {},
): Promise<ScenarioServer> {
  const time = createVirtualTime(START)
  const ended = new AbortController()
  const tokens = new Map<string, string>()
  const server = await openOperator({
    ...projectServerOptions(project),
    env,
    offline: true,
    clock: time.clock,
    log: silentLog,
    timers: time.timers,
    wait: (ms, signal) => time.wait(ms, signal),
    cassette,
    standIn: (real) => withTokens(withDoubles(real, doubles, time, ended.signal), tokens),
  })
  const operator = createOperator(
    (request) => server.operator.fetch(request),
    () => server.close(),
  )
  const close = async (): Promise<void> => {
    ended.abort(new Error('The scenario is over.'))
    await operator.close()
  }
  try {
    for (const bundle of bundles) await operator.call('POST /publish', { body: { bundle, deploy: true } })
  } catch (error) {
    await close()
    throw error
  }
  const answer: ScenarioServer['answer'] = (runId, message, { id = 'scenario', roles = [] }) => {
    // The people of a scenario are who it says they are, and prove it as a policy asks.
    const workspaceId = workspaceIdOf(project.workspace)
    const by: Principal = { type: 'operator', id, proof: 'credential', workspaceId, roles }
    return server.engine.answer(runId as RunId, toAnswer(parseMessage({ runId, ...message }, runId), by, IN_SCENARIO))
  }
  const setPaused: ScenarioServer['setPaused'] = async (subject, isPaused) => {
    for (const [kind, name] of Object.entries(subject))
      await operator.call('POST /pauses', {
        body: { kind: kind as PauseTarget['kind'], ...(name !== true && { name }), paused: isPaused },
      })
  }
  return {
    operator,
    store: server.store,
    time,
    close,
    answer,
    setPaused,
    async applyOutside(due) {
      const { steer, interrupt, pause, resume } = due.event
      const stopped = pause ?? resume
      if (stopped !== undefined) {
        await setPaused(stopped, pause !== undefined)
        return undefined
      }
      const text = steer ?? interrupt
      const { error } = await (text === undefined
        ? applyOutside(server.engine, tokens, due)
        : answer(due.runId, { text, steer: interrupt === undefined ? true : 'interrupt' }, {}))
      return error
    },
  }
}

/**
 * The toolbox with doubles in place of some tools.
 * @param ended fires when the scenario is over and ends doubles that never answer
 */
function withDoubles(
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
