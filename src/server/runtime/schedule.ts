/**
 * Starts runs of schedule triggers. Ticks missed while no server ran are logged, not made up.
 * Source: docs/design/models-and-tools.md#schedules
 */
import { toIsoText, type Instant, type StoreClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { isFailure, type Failure } from '../../base/failure.ts'
import type { TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { Engine } from '../../engine/interface/engine.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { TickRefusal, Trigger } from '../../spec/people/key.ts'
import type { BackgroundJob } from '../../queue/jobs.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'
import { startLimits } from './rates.ts'
import { nextTick } from './ticks.ts'

interface ScheduleParts {
  /** Several servers share the store and take turns at the job, so the handled ticks are read from it. */
  readonly isShared?: boolean
  readonly store: Store
  readonly engine: Engine
  readonly workspaceId: WorkspaceId
  readonly config: ProjectConfig
  readonly clock: StoreClock
  readonly log: Log
}

/**
 * A tick that fires later than this, for example because the machine slept, counts as missed. Another server takes over from a dead one
 * well before.
 */
const LATE_MS = 90_000
/**
 * While the store is out of reach, this server is ending or its clock is wrong, ticks stay due; some server tries again after this
 * time.
 */
const TRY_AGAIN_MS = 1000
/** How often triggers are read that other processes may have written. */
const LOOK_EVERY_MS = 5000

/** Woken after a trigger was created, changed or deleted. */
export function scheduleJob(parts: ScheduleParts): BackgroundJob {
  const { store, workspaceId, clock, isShared = false } = parts
  /** Time up to which the ticks of each active trigger were handled. New and reactivated triggers have missed none. */
  let handled: ReadonlyMap<TriggerId, Instant> | undefined
  async function startAllDue(): Promise<Instant> {
    if (!clock.mayDecide()) return clock.now() + TRY_AGAIN_MS
    const now = clock.now()
    // Ticks that were due before the first pass were due while no server ran. Of several servers another one may have run.
    const maxLateMs = handled || isShared ? LATE_MS : -1
    const before = isShared ? await store.ticks(workspaceId) : (handled ??= await store.ticks(workspaceId))
    const all = (await store.triggers(workspaceId)).filter(({ type }) => type === 'schedule')
    const held = new Set((await store.restored(workspaceId)).triggers)
    // A command that writes to a shared database wakes no server, so a tick may be due before the first pass that finds its trigger.
    const firstSeen = ({ createdAt }: Trigger): Instant =>
      isShared && now - createdAt <= LATE_MS ? Math.min(createdAt, now) : now
    const active = all.filter(({ id, active }) => active && !held.has(id))
    for (const trigger of active)
      await startDueRuns(parts, trigger, before.get(trigger.id) ?? firstSeen(trigger), now, maxLateMs)
    handled = new Map(active.map(({ id }) => [id, now]))
    const idle = all.filter((trigger) => !active.includes(trigger) && before.has(trigger.id))
    const marks = new Map([...handled, ...idle.map(({ id }) => [id, null] as const)])
    // A store that cannot write must not stop the schedule.
    if (all.length > 0)
      await store
        .markTicks(marks)
        .catch((error: unknown) => parts.log.write('error', 'schedule failed', { detail: detailOf(error) }))
    return Math.min(isShared ? now + LOOK_EVERY_MS : Infinity, ...active.map((trigger) => nextTick(trigger, now)))
  }
  return {
    name: 'schedule',
    run: () =>
      startAllDue().catch((error: unknown) => {
        if (isPassing(error)) return clock.now() + TRY_AGAIN_MS
        throw error
      }),
  }
}

/** Not a refusal: the same start may succeed a moment later, or on another server. */
const isPassing = (error: unknown): boolean => isStoreAway(error) || isFailure(error, 'shutting_down')

/**
 * Starts the runs of the ticks that are due. Missed ticks are logged and not made up.
 * @param maxLateMs how late a tick may start; negative = every due tick was missed
 */
async function startDueRuns(
  parts: ScheduleParts,
  trigger: Trigger,
  since: Instant,
  now: Instant,
  maxLateMs: number,
): Promise<void> {
  // Bounded apart from each other: however many were missed, those that are due are found.
  const punctualFrom = now - maxLateMs
  const missed = ticksBetween(trigger, since, Math.min(now, punctualFrom - 1))
  const [first, last] = [missed[0], missed.at(-1)]
  if (first !== undefined && last !== undefined)
    parts.log.write('warn', 'scheduled ticks missed', {
      triggerId: trigger.id,
      trigger: trigger.name,
      missed: missed.length,
      first: toIsoText(first),
      // Of more than are counted nobody knows the last.
      ...(missed.length < MOST_TICKS && { last: toIsoText(last) }),
    })
  for (const tick of ticksBetween(trigger, Math.max(since, punctualFrom - 1), now)) await startBy(parts, trigger, tick)
}

/** Upper bound for counting ticks, for schedules of every second after weeks without a server. */
const MOST_TICKS = 1000

function ticksBetween(trigger: Trigger, since: Instant, until: Instant): Instant[] {
  const ticks: Instant[] = []
  for (let at = nextTick(trigger, since); at <= until && ticks.length < MOST_TICKS; at = nextTick(trigger, at))
    ticks.push(at)
  return ticks
}

/** The key of a tick is claimed with the start: of all servers that share a database, one starts its run. */
async function startBy(parts: ScheduleParts, trigger: Trigger, tick: Instant): Promise<void> {
  const { engine, config, log } = parts
  try {
    await engine.start({
      workspaceId: trigger.workspaceId,
      agentId: trigger.agentId,
      principal: { type: 'schedule', id: trigger.id, workspaceId: trigger.workspaceId, triggerName: trigger.name },
      triggerType: 'scheduled',
      triggerId: trigger.id,
      triggerName: trigger.name,
      input: trigger.input ?? {},
      idempotency: { key: `tick ${trigger.id} ${tick}`, bodyDigest: '' },
      limits: startLimits(config, trigger),
    })
    if (trigger.refusal) await markRefusal(parts, trigger, null)
  } catch (error) {
    if (isPassing(error)) throw error
    // A stack trace helps to find a bug and says nothing about a refusal.
    const why = isFailure(error)
      ? { code: error.code, detail: describeRefusal(error) }
      : { code: 'internal', detail: detailOf(error) }
    const at = toIsoText(tick)
    const told: RefusedTick = { triggerId: trigger.id, trigger: trigger.name, at, ...why }
    log.write('warn', REFUSED_TICK, { ...told })
    await markRefusal(parts, trigger, { at: tick, code: why.code, message: reasonOf(told) })
  }
}

/** The message of the log about a tick that started no run. */
export const REFUSED_TICK = 'scheduled start refused'

/** What the log says of it. */
export interface RefusedTick {
  readonly triggerId: TriggerId
  readonly trigger: string
  readonly at: string
  readonly code: string
  readonly detail: string
}

/** `schedule nightly started nothing at 2026-11-20T03:00:00.000Z: …` */
export const describeRefusedTick = (tick: RefusedTick): string =>
  `schedule ${tick.trigger} started nothing at ${tick.at}: ${reasonOf(tick)}`

const reasonOf = ({ code, detail }: RefusedTick): string =>
  code === 'internal' ? 'svc failed; its log says why.' : detail

/** The sentence of a failure, with the places that it names. */
export const describeRefusal = ({ message, extras }: Failure): string =>
  [message, ...(extras.details ?? []).map(({ path, message: what }) => `${path} ${what}.`)].join(' ')

/** Shown where the schedule is. A store that cannot write must not stop the schedule. */
async function markRefusal({ store, log }: ScheduleParts, { id }: Trigger, refusal: TickRefusal | null): Promise<void> {
  await store
    .markRefusal(id, refusal)
    .catch((error: unknown) => log.write('error', 'schedule failed', { detail: detailOf(error) }))
}
