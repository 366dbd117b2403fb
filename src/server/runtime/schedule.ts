/** Starts runs of schedule triggers. Ticks missed while no server ran are logged, not made up. Source: decisions, section 15. */
import { Cron } from 'croner'
import { toIsoText, type Clock, type Instant } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { isFailure } from '../../base/failure.ts'
import type { TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { Engine } from '../../engine/session/engine.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import type { Trigger } from '../../spec/key.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'
import { startLimits } from './rates.ts'

export interface Scheduler {
  /** Reads the triggers again, after one was created, changed or deleted. */
  refresh(): void
  stop(): Promise<void>
}

interface ScheduleParts {
  readonly store: Store
  readonly engine: Engine
  readonly workspaceId: WorkspaceId
  readonly config: ProjectConfig
  readonly clock: Clock
  readonly log: Log
}

/** The longest timer that node keeps: 2^31 - 1 ms. A later tick is scheduled again when that timer fires. */
const LONGEST_TIMER_MS = 2_147_483_647
/** A tick that fires later than this, for example because the machine slept, counts as missed. */
const LATE_MS = 60_000

export function createSchedule(parts: ScheduleParts): Scheduler {
  const { store, workspaceId, clock, log } = parts
  let timer: NodeJS.Timeout | undefined
  let work: Promise<void> = Promise.resolve()
  /** Time up to which the ticks of each active trigger were handled. New and reactivated triggers have missed none. */
  let handled: ReadonlyMap<TriggerId, Instant> | undefined
  let stopped = false

  const round = async () => {
    const now = clock.now()
    // Ticks that were due before the first pass were due while no server ran.
    const maxLateMs = handled ? LATE_MS : -1
    const before = (handled ??= await store.ticks(workspaceId))
    const all = (await store.triggers(workspaceId)).filter(({ type }) => type === 'schedule')
    const held = new Set((await store.restored(workspaceId)).triggers)
    const active = all.filter(({ id, active }) => active && !held.has(id))
    for (const trigger of active) await startDueRun(parts, trigger, before.get(trigger.id) ?? now, now, maxLateMs)
    handled = new Map(active.map(({ id }) => [id, now]))
    const next = Math.min(...active.map((trigger) => nextTick(trigger, now)))
    clearTimeout(timer)
    if (!stopped && next !== Infinity) {
      timer = setTimeout(refresh, Math.min(LONGEST_TIMER_MS, Math.max(1, next - now)))
      timer.unref()
    }
    // Last: a store that cannot write must not stop the schedule.
    const idle = all.filter((trigger) => !active.includes(trigger) && before.has(trigger.id))
    if (all.length > 0) await store.markTicks(new Map([...handled, ...idle.map(({ id }) => [id, null] as const)]))
  }
  const refresh = () => {
    work = work
      .then(round)
      .catch((error: unknown) => log.write('error', 'schedule failed', { detail: detailOf(error) }))
  }
  refresh()
  return {
    refresh,
    stop() {
      stopped = true
      clearTimeout(timer)
      return work
    },
  }
}

/**
 * Starts the run of a tick that is due now. Missed ticks are logged and not repeated.
 * @param maxLateMs how late a tick may start; negative = every due tick was missed
 */
async function startDueRun(
  parts: ScheduleParts,
  trigger: Trigger,
  since: Instant,
  now: Instant,
  patience: number,
): Promise<void> {
  const ticks = ticksBetween(trigger, since, now)
  const last = ticks.at(-1)
  const isDue = last !== undefined && now - last <= patience
  const missed = isDue ? ticks.slice(0, -1) : ticks
  if (missed.length > 0)
    parts.log.write('warn', 'scheduled ticks missed', {
      triggerId: trigger.id,
      trigger: trigger.name,
      missed: missed.length,
      first: toIsoText(missed[0]!),
      last: toIsoText(missed.at(-1)!),
    })
  if (isDue) await startBy(parts, trigger, last)
}

/** Upper bound for counting missed ticks, for schedules of every second after weeks without a server. */
const MOST_TICKS = 1000

function ticksBetween(trigger: Trigger, since: Instant, until: Instant): Instant[] {
  const ticks: Instant[] = []
  for (let at = nextTick(trigger, since); at <= until && ticks.length < MOST_TICKS; at = nextTick(trigger, at))
    ticks.push(at)
  return ticks
}

/** First tick after `since`; Infinity when there is none. */
export const nextTick = ({ cron, timeZone }: Pick<Trigger, 'cron' | 'timeZone'>, since: Instant): Instant =>
  new Cron(cron ?? '', { paused: true, ...(timeZone !== null && { timezone: timeZone }) })
    .nextRun(new Date(since))
    ?.getTime() ?? Infinity

/** The key of a tick is claimed with the start: of all servers that share a database, one starts its run. */
async function startBy({ engine, config, log }: ScheduleParts, trigger: Trigger, tick: Instant): Promise<void> {
  try {
    await engine.start({
      workspaceId: trigger.workspaceId,
      agentId: trigger.agentId,
      principal: { type: 'schedule', id: trigger.id, workspaceId: trigger.workspaceId, triggerName: trigger.name },
      triggerType: 'scheduled',
      triggerId: trigger.id,
      triggerName: trigger.name,
      input: {},
      idempotency: { key: `tick ${trigger.id} ${tick}`, bodyDigest: '' },
      limits: startLimits(config, trigger),
    })
  } catch (error) {
    // A stack trace helps to find a bug and says nothing about a refusal.
    const why = isFailure(error)
      ? { code: error.code, detail: error.message }
      : { code: 'internal', detail: detailOf(error) }
    log.write('warn', 'scheduled start refused', { triggerId: trigger.id, trigger: trigger.name, ...why })
  }
}
