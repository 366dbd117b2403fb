/** Hours in which nobody is told of what can wait. Source: docs/design/notifications.md#quiet-hours */
import type { Instant } from '../../base/clock.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { withinTest } from '../../policy/condition/within.ts'
import type { QuietHoursConfig } from '../../spec/project/config.ts'
import type { NoticeEvent } from '../../spec/notice.ts'

const MINUTE_MS = 60_000
/** Quiet hours end within a week: beyond it, they would hide what happens. */
const LONGEST_MS = 7 * 24 * 60 * MINUTE_MS

/** What somebody has to act on, or what stands still meanwhile. Tasks are looked at by their deadline. */
const URGENT: ReadonlySet<NoticeEvent> = new Set(['run.held', 'budget.reached', 'task.changed', 'notify.test'])

/**
 * When something is told that is due at `dueAt`.
 * @param expiresAt of a task that still waits
 */
export type DelayWhileQuiet = (event: NoticeEvent, dueAt: Instant, expiresAt: Instant | undefined) => Instant

export function delayWhileQuiet(quiet: QuietHoursConfig | undefined, remindMs: number): DelayWhileQuiet {
  if (quiet === undefined) return (_, dueAt) => dueAt
  const isQuiet = withinTest(toJson(quiet))
  // Finding the end asks for the local time of each minute, so it is found once a night.
  let known = { begin: 0, end: 0 }
  return (event, dueAt, expiresAt) => {
    if (URGENT.has(event) || isQuiet(dueAt) !== true) return dueAt
    if (dueAt < known.begin || dueAt >= known.end) known = { begin: dueAt, end: endOf(dueAt, isQuiet) }
    const { end } = known
    // Nobody could decide it in time after that.
    const asks = event === 'task.created' || event === 'task.expiring'
    return asks && expiresAt !== undefined && expiresAt < end + remindMs ? dueAt : end
  }
}

/** The first minute after `begin` that is not quiet. */
function endOf(begin: Instant, isQuiet: ReturnType<typeof withinTest>): Instant {
  let at = begin - (begin % MINUTE_MS)
  while (isQuiet(at) === true && at < begin + LONGEST_MS) at += MINUTE_MS
  return at
}
