/** Lists and releases what a restore holds, with the calls that may repeat. Source: docs/design/runs-and-recovery.md#restoring */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId, TriggerId } from '../../base/ids.ts'
import { isRepeatable, toolNamed } from '../../engine/session/bindings.ts'
import { idempotencyKeyOf } from '../../engine/session/keys.ts'
import { boundedKey } from '../../policy/condition/effect-key.ts'
import { approverOf, type Trigger } from '../../spec/people/key.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import type { RepeatView, RestoredView } from '../../operations/server.ts'
import type { ToolCall, Run } from '../../spec/run/run.ts'
import { ASKS_AFTER_RELEASE_MS } from '../../spec/run/restore.ts'
import type { WholeRelease } from '../../store/queries.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { intactVersion } from '../../store/altered-versions.ts'
import { nextTick } from '../runtime/ticks.ts'
import type { MakeAct } from '../../spec/people/act.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'
import { findAgent, findRun, findTrigger } from './find/find.ts'
import { nameOf } from './triggers.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Everything that is held, or the part that a release with the same names would release. */
export const listRestored: OperatorAction<'GET /restored'> = async ({ services, query }) => {
  const { store, workspace } = services
  const { sessions, triggers } = await wanted(services, query)
  const runs: RestoredView['runs'][number][] = []
  for (const id of sessions) runs.push(await toHeldRun(services, id))
  const held = (await store.triggers(workspace.id)).filter(({ id }) => triggers.includes(id))
  const restore = await store.lastRestore()
  return {
    restore: restore
      ? {
          at: toIsoText(restore.at),
          backedUpAt: toIsoText(restore.backedUpAt),
          releasedAt: isoOrNull(restore.releasedAt),
          asksUntil: isoOrNull(restore.asksUntil),
        }
      : null,
    runs,
    triggers: await Promise.all(held.map((trigger) => toHeldTrigger(services, trigger))),
  }
}

export const releaseRestored: OperatorAction<'POST /restored/release'> = async ({ services, operator, body, act }) => {
  const { store, engine, log, serverState } = services
  const isWhole = isEverything(body)
  if (!isWhole && body.asksForSeconds !== undefined)
    throw fail('usage', { what: 'How long calls ask is said of everything that a restore holds.' })
  const { sessions, triggers } = await wanted(services, body)
  // First, so that nothing that is released makes a call that is known to have happened.
  const known = await recordHappened(services, approverOf(operator), body.happened ?? [], act)
  const whole = isWhole ? await wholeRelease(services, body.asksForSeconds) : undefined
  const released = act('restore.released', {
    subject: isWhole ? 'everything that the restore holds' : 'a part of what the restore holds',
    after: { runs: sessions.length, triggers: triggers.length, asksUntil: isoOrNull(whole?.asksUntil ?? null) },
  })
  await engine.release(sessions, triggers, whole, released)
  serverState.onTriggersChanged?.()
  const asksUntil = isoOrNull((await store.lastRestore())?.asksUntil ?? null)
  const counts = { runs: sessions.length, triggers: triggers.length, asksUntil, known }
  log.write('info', 'released what a restore held', { ...counts, by: operator.id })
  return counts
}

/** A release that says nothing of it keeps what an earlier one said. */
async function wholeRelease(
  { store, clock }: ServerServices,
  asksForSeconds: number | undefined,
): Promise<WholeRelease> {
  const at = clock.now()
  if (asksForSeconds !== undefined) return { at, asksUntil: at + asksForSeconds * 1000 }
  return { at, asksUntil: (await store.lastRestore())?.asksUntil ?? at + ASKS_AFTER_RELEASE_MS }
}

async function recordHappened(
  { store, workspace, clock, ids }: ServerServices,
  by: string,
  texts: readonly string[],
  act: MakeAct,
): Promise<number> {
  if (texts.length === 0) return 0
  const keys = texts.map((text) => ({ id: ids.next(), ...boundedKey(text) }))
  const [sessionId, runId] = [ids.next() as SessionId, ids.next() as RunId]
  const recorded = act('effects.recorded', {
    subject: `${texts.length} effects`,
    after: keys.map(({ shown }) => shown),
  })
  return store.recording(recorded).recordKnownEffects(workspace.id, { at: clock.now(), by, sessionId, runId, keys })
}

type ReleaseNames = Pick<OperatorRoutes['POST /restored/release']['body'], 'run' | 'agent' | 'trigger'>

const isEverything = ({ run, agent, trigger }: ReleaseNames): boolean =>
  run === undefined && agent === undefined && trigger === undefined

async function wanted(
  services: ServerServices,
  given: ReleaseNames,
): Promise<{ readonly sessions: readonly SessionId[]; readonly triggers: readonly TriggerId[] }> {
  const { store, workspace } = services
  const held = await store.restored(workspace.id)
  if (isEverything(given)) return held
  const sessions = new Set<SessionId>()
  const triggers = new Set<TriggerId>()
  if (given.run !== undefined) sessions.add((await findRun(services, given.run.toLowerCase())).sessionId)
  if (given.trigger !== undefined) triggers.add((await findTrigger(services, given.trigger.toLowerCase())).id)
  if (given.agent !== undefined) {
    const { id } = await findAgent(services, given.agent)
    for (const each of held.sessions) if ((await store.session(each))?.agentId === id) sessions.add(each)
    for (const each of await store.triggers(workspace.id, id)) triggers.add(each.id)
  }
  // Also a session that has ended: its runs may be resumed, continued and undone.
  const named = await Promise.all(
    [...sessions].map(async (id) => ((await store.restoredAt(id)) === undefined ? [] : [id])),
  )
  return {
    sessions: named.flat(),
    triggers: held.triggers.filter((id) => triggers.has(id)),
  }
}

async function toHeldRun(services: ServerServices, id: SessionId): Promise<RestoredView['runs'][number]> {
  const { store } = services
  const runs = await store.runsOfSession(id)
  const mayRepeat: RepeatView[] = []
  for (const run of runs) {
    const version = await intactVersion(store, run.agentVersionId)
    if (version) mayRepeat.push(...repeatsOf(run, version.snapshot))
  }
  const root = expectDefined(
    runs.findLast(({ parentRunId }) => parentRunId === null),
    'a session has a root run',
  )
  return {
    runId: root.id,
    agent: root.agentName,
    status: root.status,
    startedAt: toIsoText(root.startedAt),
    heldSince: toIsoText((await store.restoredAt(id)) ?? services.clock.now()),
    mayRepeat,
  }
}

function repeatsOf({ id: runId, agentName: agent, state }: Run, snapshot: AgentSnapshot): RepeatView[] {
  const here = state.at === 'held' ? state.then : state
  if (here.at === 'thinking' || here.at === 'backing_off')
    return [{ runId, agent, what: 'completion', onRelease: state.at === 'held' ? 'asked' : 'made' }]
  if (here.at !== 'calling') return []
  return here.calls.flatMap((call): RepeatView[] => {
    const onRelease = call.kind === 'tool' ? fateOf(call, snapshot) : undefined
    if (!onRelease) return []
    return [
      {
        runId,
        agent,
        what: 'call',
        tool: call.ref,
        sideEffectClass: toolNamed(snapshot, call.name)?.sideEffectClass ?? null,
        idempotencyKey: idempotencyKeyOf(runId, here.turn, call.index),
        onRelease,
      },
    ]
  })
}

/** What happens to a call once its run is released; undefined if nothing. */
function fateOf({ name, state: { at } }: ToolCall, snapshot: AgentSnapshot): RepeatView['onRelease'] | undefined {
  if (at === 'awaiting' || at === 'unknown') return 'asked'
  // The outcome is unknown.
  if (at === 'sent') return isRepeatable(toolNamed(snapshot, name)?.sideEffectClass) ? 'made' : 'asked'
  return at === 'proposed' || at === 'ready' ? 'made' : undefined
}

const toHeldTrigger = async (services: ServerServices, trigger: Trigger): Promise<RestoredView['triggers'][number]> => {
  const next = trigger.type === 'schedule' && trigger.active ? nextTick(trigger, services.clock.now()) : Infinity
  return {
    triggerId: trigger.id,
    agent: await nameOf(services, trigger.agentId),
    type: trigger.type,
    name: trigger.name,
    nextAt: isoOrNull(next === Infinity ? null : next),
  }
}
