/** The time that screens show, and how they say it. */
import { createSignal } from './signal.ts'
import { shortDuration } from '../../base/text/short-text.ts'

/** How far the server's clock is ahead of this device's, whose clock may be set wrong: what is shown happened at the server. */
let aheadMs = 0

/** An answer that took longer says too little about the server's clock. */
const PROMPT_MS = 1000
/** The header has no milliseconds: a deadline shows rather too soon than too late. */
const HEADER_MS = 1000
/** A smaller difference is that of the header and of the way. */
const SAME_MS = 3000

export const serverTime = (): number => Date.now() + aheadMs

/** @param date of the server, in the head of an answer @param askedAt by this device */
export function compareClocks(date: string | null, askedAt: number): void {
  const here = Date.now()
  const difference = Date.parse(date ?? '') + HEADER_MS - here
  if (Number.isNaN(difference) || here - askedAt > PROMPT_MS) return
  aheadMs = Math.abs(difference) > SAME_MS ? difference : 0
  if (Math.abs(now.value - serverTime()) > SAME_MS) now.value = serverTime()
}

/** The time of the server; moves once a second. */
export const now = createSignal(serverTime())

export const startClock = (): void => void setInterval(() => (now.value = serverTime()), 1000)

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
