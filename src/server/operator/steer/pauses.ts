/** Pauses agents, versions, tools and providers, or everything, and lets them go on. Source: docs/design/steering.md#pauses */
import { toIsoText } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { RunId, VersionId } from '../../../base/ids.ts'
import { approverOf } from '../../../spec/people/key.ts'
import type { PauseView } from '../../../operations/pauses.ts'
import { type Run, OPEN_STATUSES } from '../../../spec/run/run.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import {
  describePaused,
  findPause,
  type EffectSubject,
  type PauseAct,
  type PauseTarget,
} from '../../../spec/steer/pause.ts'
import { intactVersion } from '../../../store/altered-versions.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { findAgent, findVersion } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { toRunView } from '../runs.ts'

/** Maximum open runs that are checked, and acts that are listed. */
const MOST = 1000
/** Maximum runs in an answer. */
const MOST_SHOWN = 100

export const listPauses: OperatorAction<'GET /pauses'> = async ({ services, query }) => {
  const { engine, store, workspace } = services
  const acts = query.all === true ? await store.pauseActs(workspace.id, MOST) : await engine.pauses(workspace.id)
  return { items: acts.map(toPauseView), total: acts.length }
}

export const setPaused: OperatorAction<'POST /pauses'> = async ({ services, operator, body, act }) => {
  const { engine, workspace, clock, log } = services
  const { paused: isPaused, reason = null } = body
  const target = await findTarget(services, body)
  const pause: PauseAct = { ...target, isPaused, at: clock.now(), by: approverOf(operator), reason }
  const recorded = act(isPaused ? 'pause.set' : 'pause.ended', {
    subject: describePaused(target),
    reason,
    setup: [`pause ${target.kind} ${target.name}`],
  })
  const changed = await engine.setPaused(workspace.id, pause, recorded)
  const pauses = await engine.pauses(workspace.id)
  const { runs, inFlight } = await concernedRuns(services, pause)
  if (changed)
    log.write('warn', `${isPaused ? 'Paused' : 'No longer paused'}: ${describePaused(target)}.`, {
      by: pause.by,
      ...(reason !== null && { reason }),
      runs: runs.length,
    })
  return {
    ...toPauseView(isPaused ? (pauses.find((each) => isSame(each, target)) ?? pause) : pause),
    changed,
    inFlight,
    pauses: pauses.map(toPauseView),
    items: await Promise.all(runs.slice(0, MOST_SHOWN).map((run) => toRunView(services, run))),
    total: runs.length,
  }
}

const isSame = (one: PauseTarget, other: PauseTarget): boolean => one.kind === other.kind && one.name === other.name

/** The full name of the subject. A misspelt name would silently stop nothing. */
async function findTarget(
  services: ServerServices,
  { kind, name = '' }: { readonly kind: PauseTarget['kind']; readonly name?: string },
): Promise<PauseTarget> {
  switch (kind) {
    case 'all':
      return { kind, name: '' }
    case 'agent':
      return { kind, name: (await findAgent(services, name)).name }
    case 'version': {
      const at = name.lastIndexOf('@')
      const agent = await findAgent(services, at < 0 ? name : name.slice(0, at))
      const { snapshot } = await findVersion(services, agent, name.slice(at + 1))
      return { kind, name: `${snapshot.id}@${snapshot.version}` }
    }
    case 'tool':
      return findUsed(services, { kind, name }, ({ tools }) => tools.some(({ id }) => id === name))
    case 'provider':
      return findUsed(services, { kind, name }, ({ model, fallback = [] }) =>
        [model, ...fallback].some(({ provider }) => provider === name),
      )
  }
}

/** @throws Failure `not_found` for what no published version uses */
async function findUsed(
  { store, workspace }: ServerServices,
  target: PauseTarget,
  isUsedBy: (snapshot: AgentSnapshot) => boolean,
): Promise<PauseTarget> {
  for (const { id } of await store.agents(workspace.id))
    if ((await store.versions(id)).some(({ snapshot }) => isUsedBy(snapshot))) return target
  throw fail('not_found', { what: `${target.kind} "${target.name}": no published version uses it` })
}

/** Open runs that a pause holds, or held, and the number of their effects in flight. */
async function concernedRuns(
  { store, workspace }: ServerServices,
  act: PauseAct,
): Promise<{ readonly runs: readonly Run[]; readonly inFlight: number }> {
  const { items } = await store.runs({ workspaceId: workspace.id, status: OPEN_STATUSES }, { skip: 0, take: MOST })
  const byId = new Map(items.map((run) => [run.id, run]))
  const snapshots = new Map<VersionId, AgentSnapshot>()
  const runs: Run[] = []
  let inFlight = 0
  for (const run of items) {
    const id = run.agentVersionId
    const snapshot = snapshots.get(id) ?? (await intactVersion(store, id))?.snapshot
    if (!snapshot) continue
    snapshots.set(id, snapshot)
    const subjects = subjectsOf(run, byId, snapshot)
    const held = subjects.filter(({ subject }) => findPause([act], subject))
    if (held.length === 0) continue
    runs.push(run)
    inFlight += held.filter(({ isSent }) => isSent).length
  }
  return { runs, inFlight }
}

interface OpenEffect {
  readonly subject: EffectSubject
  readonly isSent: boolean
}

/**
 * The effects that a run has in flight or will start next: its completion or its calls. A waiting run has none; only its
 * agent counts.
 */
function subjectsOf(run: Run, byId: ReadonlyMap<RunId, Run>, { model, tools }: AgentSnapshot): readonly OpenEffect[] {
  const { agents, versions } = lineOf(run, byId)
  const { state } = run
  const completion: OpenEffect = {
    subject: { agents, versions, provider: model.provider },
    isSent: state.at === 'thinking' && !state.unsent,
  }
  const isSent = (tool: string): boolean =>
    state.at === 'calling' && state.calls.some(({ ref, state: { at } }) => ref === tool && at === 'sent')
  return [completion, ...tools.map(({ id }) => ({ subject: { agents, versions, tool: id }, isSent: isSent(id) }))]
}

/** Agents and versions of a run and its ancestors. */
export function lineOf(run: Run, byId: ReadonlyMap<RunId, Run>): Pick<EffectSubject, 'agents' | 'versions'> {
  const line: Run[] = []
  for (let each: Run | undefined = run; each; each = each.parentRunId === null ? undefined : byId.get(each.parentRunId))
    line.push(each)
  return {
    agents: line.map(({ agentName }) => agentName),
    versions: line.map(({ agentName, versionLabel }) => `${agentName}@${versionLabel}`),
  }
}

export const toPauseView = ({ kind, name, isPaused, at, by, reason }: PauseAct): PauseView => ({
  kind,
  name,
  paused: isPaused,
  at: toIsoText(at),
  by,
  reason,
})
