/** The next times of a schedule. */
import { usageFailure } from '../../base/usage-failure.ts'

/** Enough to notice a mistake in the expression. */
const SHOWN_TIMES = 3

/**
 * The next times of a schedule, such as `Mon 23 Nov, 09:00`.
 * @param timeZone IANA zone of the expression and the printed times; UTC when absent
 * @throws Failure `usage` for an invalid expression or zone
 */
export async function nextTimes(cron: string, timeZone: string | undefined, now: number): Promise<readonly string[]> {
  const { Cron } = await import('croner')
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: '2-digit',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: timeZone ?? 'UTC',
    })
    return new Cron(cron, { timezone: timeZone ?? 'UTC' })
      .nextRuns(SHOWN_TIMES, new Date(now))
      .map((each) => format.format(each))
  } catch (error) {
    throw usageFailure(`"${cron}"${timeZone ? ` in ${timeZone}` : ''} is no schedule: ${(error as Error).message}`)
  }
}
