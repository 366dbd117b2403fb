/** The time that screens show, and how they say it. */
import { signal } from './signal.ts'
import { shortDuration } from '../../base/short-text.ts'

/** Moves once a second. */
export const now = signal(Date.now())

export const startClock = (): void => void setInterval(() => (now.value = Date.now()), 1000)

/** `3m ago`, `in 2h`, `just now`. */
export function describeAge(at: number, from: number): string {
  const ms = from - at
  if (ms > -1000 && ms < 10_000) return 'just now'
  return ms > 0 ? `${shortDuration(ms)} ago` : `in ${shortDuration(-ms)}`
}

const EXACT = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})

export const exactTime = (at: number): string => EXACT.format(at)

/** `14:03:22` of today, else with the day. */
export function clockTime(at: number, from: number): string {
  const date = new Date(at)
  const time = date.toTimeString().slice(0, 8)
  if (date.toDateString() === new Date(from).toDateString()) return time
  return `${date.toLocaleDateString('en-GB', { day: '2-digit', month: 'short' })} ${time.slice(0, 5)}`
}
