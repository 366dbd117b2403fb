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

/** The longest timer that node keeps: 2^31 - 1 ms. A tick farther away is looked at again then. */
const LONGEST_TIMER_MS = 2_147_483_647
/** A tick that comes later than this, for example because the machine slept, is missed: its run would be of another time. */
const LATE_MS = 60_000

export function createSchedule(parts: ScheduleParts): Scheduler {
  const { store, workspaceId, clock, log } = parts
  let timer: NodeJS.Timeout | undefined
  let work: Promise<void> = Promise.resolve()
  /** Up to when the ticks of each active trigger were looked at. One that is new or active again has none to make up for. */
  let seen: ReadonlyMap<TriggerId, Instant> | undefined
  let stopped = false

  const round = async () => {
    const now = clock.now()
    // What was due before this process looked at all was due while no server ran.
    const patience = seen ? LATE_MS : -1
    const before = (seen ??= await store.ticks(workspaceId))
    const all = (await store.triggers(workspaceId)).filter(({ type }) => type === 'schedule')
    const held = new Set((await store.restored(workspaceId)).triggers)
    const active = all.filter(({ id, active }) => active && !held.has(id))
    for (const trigger of active) await look(parts, trigger, before.get(trigger.id) ?? now, now, patience)
    seen = new Map(active.map(({ id }) => [id, now]))
    const next = Math.min(...active.map((trigger) => nextTick(trigger, now)))
    clearTimeout(timer)
    if (!stopped && next !== Infinity) {
      timer = setTimeout(refresh, Math.min(LONGEST_TIMER_MS, Math.max(1, next - now)))
      timer.unref()
    }
    // Last, since a store that cannot keep it must not stop the schedule.
    const idle = all.filter((trigger) => !active.includes(trigger) && before.has(trigger.id))
    if (all.length > 0) await store.markTicks(new Map([...seen, ...idle.map(({ id }) => [id, null] as const)]))
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
 * Starts the run of a tick that is due now. Ticks that were missed are told, and nothing is made up for.
 * @param patience milliseconds that a tick may be late; negative = each one is missed
 */
async function look(
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
  if (isDue) await startBy(parts, trigger)
}

/** Ticks counted at most: a schedule of every second that nobody served for weeks is told no more exactly. */
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

async function startBy({ engine, config, log }: ScheduleParts, trigger: Trigger): Promise<void> {
  try {
    await engine.start({
      workspaceId: trigger.workspaceId,
      agentId: trigger.agentId,
      principal: { type: 'schedule', id: trigger.id, workspaceId: trigger.workspaceId, triggerName: trigger.name },
      triggerType: 'scheduled',
      triggerId: trigger.id,
      triggerName: trigger.name,
      input: {},
      limits: startLimits(config, trigger),
    })
  } catch (error) {
    // Where a refusal was thrown says nothing; where a bug was says much.
    const why = isFailure(error)
      ? { code: error.code, detail: error.message }
      : { code: 'internal', detail: detailOf(error) }
    log.write('warn', 'scheduled start refused', { triggerId: trigger.id, trigger: trigger.name, ...why })
  }
}
