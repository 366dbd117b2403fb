/** Whether a key can be meant for the card that is shown. The rule is the terminal's (`cli/runs/card/await-reading.ts`). */
import { useEffect, useState } from 'preact/hooks'
import { lastDecidingKeyAt } from '../parts/keys.ts'

/** Time that a card is shown before its keys decide. */
const READING_MS = 400

/** A held key repeats for the first time within this time, on nearly all systems. */
const HELD_MS = 1000

/**
 * True once the card has been shown for a while and no deciding key was typed recently: the second key of a double press decides
 * nothing, nor does a key that is still held. The time starts when the component is mounted.
 */
export function useReading(): boolean {
  const [isRead, setRead] = useState(false)
  useEffect(() => {
    const shownAt = performance.now()
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = (): void => {
      const left = Math.max(shownAt + READING_MS, lastDecidingKeyAt() + HELD_MS) - performance.now()
      if (left <= 0) setRead(true)
      else timer = setTimeout(check, left)
    }
    check()
    return () => clearTimeout(timer)
  }, [])
  return isRead
}
