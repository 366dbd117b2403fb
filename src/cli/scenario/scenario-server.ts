/** Where a scenario is played: the parts of a server in memory, a clock that is wound by hand, doubles for tools. */
import type { Instant } from '../../base/clock.ts'
import { workspaceIdOf, type RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import { silentLog } from '../../base/log.ts'
import { openOperator } from '../../server/open.ts'
import { toAnswer } from '../../server/routes/messages.ts'
import { parseMessage } from '../../server/http/validate.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { Cassette } from '../../spec/cassette.ts'
import type { Principal } from '../../spec/key.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { createOperator, type OperatorClient } from '../project/operator.ts'
import type { Project } from '../project/project.ts'
import { packageVersion } from '../shell/version.ts'
import { withDoubles } from './doubles.ts'
import type { ToolDouble } from './scenario.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'

export interface ScenarioServer {
  readonly operator: OperatorClient
  readonly store: Store
  readonly time: VirtualTime
  /** Brings a message as the person, whose roles are taken at their word. */
  answer(
    runId: string,
    message: JsonObject,
    by: { readonly id?: string; readonly roles?: readonly string[] },
  ): Promise<MessageAccepted>
  close(): Promise<void>
}

/** A Thursday morning, the same for every scenario, so that what depends on the time is repeatable. */
const START: Instant = Date.UTC(2026, 0, 1, 9)

export async function openStage(
  project: Project,
  bundles: readonly CompiledBundle[],
  doubles: Readonly<Record<string, ToolDouble>>,
  env: Readonly<Record<string, string | undefined>>,
  cassette: Cassette = {},
): Promise<ScenarioServer> {
  const time = createVirtualTime(START)
  const ended = new AbortController()
  const house = await openOperator({
    workspace: project.workspace,
    config: project.config,
    configDirectory: project.directory,
    env,
    version: packageVersion,
    offline: true,
    clock: time.clock,
    log: silentLog,
    timers: time.timers,
    wait: (ms, signal) => time.wait(ms, signal),
    cassette,
    standIn: (real) => withDoubles(real, doubles, time, ended.signal),
  })
  const operator = createOperator(
    (request) => house.operator.fetch(request),
    () => house.close(),
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
  return {
    operator,
    store: house.store,
    time,
    close,
    answer(runId, message, { id = 'scenario', roles = [] }) {
      const by: Principal = { type: 'operator', id, workspaceId: workspaceIdOf(project.workspace), roles }
      return house.engine.answer(runId as RunId, toAnswer(parseMessage({ runId, ...message }, runId), by))
    },
  }
}
