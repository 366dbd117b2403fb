/** One polite place in which changes are told to a screen reader, at most every two seconds. */
import { createSignal } from '../wire/signal.ts'

export const announcement = createSignal('')

const APART_MS = 2000
let next: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let last = 0

export function announce(text: string): void {
  next = text
  if (timer !== undefined) return
  timer = setTimeout(
    () => {
      timer = undefined
      last = Date.now()
      announcement.value = next ?? ''
    },
    Math.max(0, last + APART_MS - Date.now()),
  )
}
