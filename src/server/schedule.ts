/** Starts runs of schedule triggers. Ticks missed while no server ran are logged, not made up. Source: decisions, section 15. */
import { Cron } from 'croner'
import type { Clock, Instant } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { isFailure } from '../base/failure.ts'
import type { WorkspaceId } from '../base/ids.ts'
import type { Engine } from '../engine/engine.ts'
import type { Config } from '../spec/config.ts'
import type { Trigger } from '../spec/key.ts'
import type { Store } from '../store/store.ts'
import { detailOf } from './log.ts'
import { startLimits } from './rates.ts'

export interface Schedule {
  /** Reads the triggers again, after one was created, changed or deleted. */
  refresh(): void
  stop(): Promise<void>
}

interface ScheduleParts {
  readonly store: Store
  readonly engine: Engine
  readonly workspaceId: WorkspaceId
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
}

/** The longest timer that node keeps: 2^31 - 1 ms. A tick farther away is looked at again then. */
const LONGEST_TIMER_MS = 2_147_483_647

export function createSchedule(parts: ScheduleParts): Schedule {
  let timer: NodeJS.Timeout | undefined
  let work: Promise<void> = Promise.resolve()
  /** The next tick of each trigger as it was seen last: one that is new or active again has none that could be overdue. */
  let due = new Map<string, Instant>()
  let stopped = false

  const round = async () => {
    const now = parts.clock.now()
    const triggers = (await parts.store.triggers(parts.workspaceId)).filter(
      (trigger) => trigger.type === 'schedule' && trigger.active,
    )
    for (const trigger of triggers) if ((due.get(trigger.id) ?? Infinity) <= now) await startBy(parts, trigger)
    due = new Map(triggers.map((trigger) => [trigger.id, nextTick(trigger, now)]))
    const next = Math.min(...due.values())
    clearTimeout(timer)
    if (stopped || next === Infinity) return
    timer = setTimeout(refresh, Math.min(LONGEST_TIMER_MS, Math.max(1, next - now)))
    timer.unref()
  }
  const refresh = () => {
    work = work
      .then(round)
      .catch((error: unknown) => parts.log.write('error', 'schedule failed', { detail: detailOf(error) }))
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

/** First tick after `since`, in UTC where the trigger names no zone; Infinity when there is none. */
const nextTick = ({ cron, timeZone }: Trigger, since: Instant): Instant =>
  new Cron(cron ?? '', { paused: true, timezone: timeZone ?? 'UTC' }).nextRun(new Date(since))?.getTime() ?? Infinity

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
    const code = isFailure(error) ? error.code : 'internal'
    log.write('warn', 'scheduled start refused', {
      triggerId: trigger.id,
      trigger: trigger.name,
      code,
      detail: detailOf(error),
    })
  }
}
