/** When a schedule is due, for people. */
import { fail } from '../../base/failure.ts'

/** As many as show a slip in the expression. */
const SHOWN_TIMES = 3

/**
 * The next times of a schedule, such as `Mon 23 Nov, 09:00`.
 * @param timeZone IANA zone in which the expression is read and the times are told; UTC when absent
 * @throws Failure `usage` for an expression or a zone that is none
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
    throw fail('usage', {
      what: `"${cron}"${timeZone ? ` in ${timeZone}` : ''} is no schedule: ${(error as Error).message}`,
    })
  }
}
