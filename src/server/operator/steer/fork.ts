/** Forks of runs, real and dry. Source: docs/design/steering.md#fork */
import { digestOfJson } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import { checkFork, readForkSource } from '../../../engine/fork.ts'
import type { ForkRequest, ForkSource } from '../../../engine/interface/engine.ts'
import type { DryForkView } from '../../../operations/steering.ts'
import type { RunView } from '../../../operations/runs.ts'
import type { AgentVersion } from '../../../store/version-rows.ts'
import { playDryFork } from '../../fork/dry-fork.ts'
import { startLimits } from '../../runtime/rates.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { findRun } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { refuseYankedExecution, versionToGoOnWith, type VersionChoice } from './resume.ts'
import { describeRun } from '../../acts/act-subjects.ts'
import { toRunView } from '../runs.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

export const forkRuns: OperatorAction<'POST /runs/fork'> = async ({ services, operator, body, act }) => {
  const planned = await planForks(services, body, body, false)
  const items: RunView[] = []
  const { idempotencyKey, ...digested } = body
  const idempotency = idempotencyKey !== undefined && {
    idempotency: { key: idempotencyKey, bodyDigest: digestOfJson(toJson(digested)) },
  }
  for (const { source, version } of planned) {
    const request = {
      ...toRequest(body),
      by: operator,
      version,
      limits: startLimits(services.config),
      act: act('run.forked', {
        subject: describeRun(source.run),
        run: source.run,
        before: { version: source.run.versionLabel },
        after: {
          version: version.snapshot.version,
          step: body.at,
          edited: (body.edits ?? []).map(({ step }) => step),
        },
      }),
      ...idempotency,
    }
    const { runId } = await services.engine.fork(source, request)
    items.push(await toRunView(services, await findRun(services, runId)))
  }
  return { items, total: items.length }
}

/** Concurrent dry runs: each calls models. */
const AT_ONCE = 4

export const tryForks: OperatorAction<'POST /runs/dry-fork'> = async ({ services, operator, body, call }) => {
  const { models } = services
  if (!models) throw fail('not_found', { what: 'way to ask models: this server was opened without them' })
  // A dry run has no effects, so wider authority needs no consent.
  const planned = await planForks(services, body, { ...body, allowWiden: true, allowYanked: true }, true)
  const items: DryForkView[] = []
  const left = planned.entries()
  const playAll = async (): Promise<void> => {
    for (const [index, { source, version }] of left) {
      const request = { ...toRequest(body), by: operator, version, limits: UNLIMITED }
      items[index] = await playDryFork(services, models, source, request, call.request.signal)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, playAll))
  return { items, total: items.length, differing: items.filter(({ differs }) => differs).length }
}

const UNLIMITED = {
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
  planRunsPerDay: null,
  planTokensPerDay: null,
  planCostPerDay: null,
}

interface ForkBody {
  readonly runs: readonly string[]
  readonly at: number
  readonly edits?: readonly { readonly step: number; readonly value: unknown }[]
}

const toRequest = ({ at, edits = [] }: ForkBody): Pick<ForkRequest, 'at' | 'edits'> => ({
  at,
  edits: edits.map(({ step, value }) => ({ ordinal: step, value: value as ForkRequest['edits'][number]['value'] })),
})

/** Checks all runs before any fork starts. */
async function planForks(
  services: ServerServices,
  body: ForkBody,
  choice: VersionChoice,
  isDry: boolean,
): Promise<readonly { readonly source: ForkSource; readonly version: AgentVersion }[]> {
  const planned = []
  for (const id of body.runs) {
    const run = await findRun(services, id.toLowerCase())
    const source = await readForkSource(services.store, run.id, isDry)
    checkFork(source, toRequest(body))
    const chosen = await versionToGoOnWith(services, run, choice)
    const version = chosen ?? expectDefined(await services.store.version(run.agentVersionId), 'a run has a version')
    // A fork is a new run, so it uses a yanked version only on request; a resumed run may keep one.
    if (choice.allowYanked !== true) refuseYankedExecution(version, 'Name another version, or add --allow-yanked.')
    planned.push({ source, version })
  }
  return planned
}
