/** An in-memory server for a scenario, with virtual time and doubles for tools. */
import type { Instant } from '../base/clock.ts'
import { workspaceIdOf, type RunId } from '../base/ids.ts'
import type { JsonObject } from '../base/json/json.ts'
import { silentLog } from '../base/log.ts'
import { openOperator } from '../server/open.ts'
import { toAnswer } from '../server/routes/messages.ts'
import { parseMessage } from '../server/http/validate.ts'
import type { MessageAccepted } from '../spec/api.ts'
import type { Cassette } from '../spec/project/cassette.ts'
import type { DecisionOrigin } from '../spec/people/decision-proof.ts'
import type { Principal } from '../spec/people/key.ts'
import type { PauseTarget } from '../spec/steer/pause.ts'
import type { CompiledBundle } from '../spec/snapshot.ts'
import type { Store } from '../store/store.ts'
import { createOperator, type OperatorClient } from '../client/operator.ts'
import type { RuntimeOptions } from '../server/runtime/options.ts'
import { applyOutside, withTokens, type DueEvent, type PausedSubject } from './outside.ts'
import type { ToolDouble } from './scenario.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'
import { withDoubles, withoutTools, type UnscriptedCall } from './tool-doubles.ts'

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

/** What the server gets of the project whose scenario is played. */
export type ScenarioProject = Pick<RuntimeOptions, 'workspace' | 'config' | 'configDirectory' | 'version' | 'documents'>

export interface ScenarioServerOptions {
  readonly project: ScenarioProject
  /** Published and deployed in this order. */
  readonly bundles: readonly CompiledBundle[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cassette: Cassette
  /** By logical id of the tool. */
  readonly doubles: Readonly<Record<string, ToolDouble>>
  /** True to ask the models that the documents name. */
  readonly isLive: boolean
  /** Carries out no call of a tool without a double. */
  readonly evaluation?: { readonly onUnscripted: (call: UnscriptedCall) => void }
}

export async function openScenarioServer({
  project,
  bundles,
  doubles,
  env,
  cassette,
  isLive,
  evaluation,
}: ScenarioServerOptions): Promise<ScenarioServer> {
  const time = createVirtualTime(START)
  const ended = new AbortController()
  const tokens = new Map<string, string>()
  const server = await openOperator({
    ...project,
    env,
    offline: !isLive,
    clock: time.clock,
    log: silentLog,
    timers: time.timers,
    wait: (ms, signal) => time.wait(ms, signal),
    cassette,
    standIn: (real) =>
      withTokens(
        withDoubles(evaluation ? withoutTools(real, evaluation.onUnscripted) : real, {
          doubles,
          time,
          ended: ended.signal,
          onUnscripted: evaluation?.onUnscripted ?? (() => undefined),
        }),
        tokens,
      ),
  })
  // It is in memory: no outcome of a call that is still in flight would be read.
  const operator = createOperator((request) => server.operator.fetch(request), { close: () => server.close(0) })
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
