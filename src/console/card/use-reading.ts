/** Whether a key can be meant for the card that is shown. The rule and its words are the terminal's. */
import { useEffect, useState } from 'preact/hooks'
import { describeEarlyKeys, HELD_MS, READING_MS } from '../../spec/view/early-key.ts'
import { lastDecidingKey } from '../parts/keys.ts'

export interface CardReading {
  /**
   * True once the card has been shown for a while and no deciding key was typed recently: the second key of a double press
   * decides nothing, nor does a key that is still held.
   */
  readonly isRead: boolean
  /** What is said about a key that came too early; undefined where none did. */
  readonly early: string | undefined
  /** For a key that came while the card was not read. */
  onEarly(key: string): void
}

/** The time starts when the component is mounted. */
export function useReading(): CardReading {
  const [isRead, setRead] = useState(false)
  const [early, setEarly] = useState<string | undefined>(undefined)
  const onEarly = (key: string): void => setEarly(describeEarlyKeys([key]))
  useEffect(() => {
    const shownAt = performance.now()
    const typed = lastDecidingKey()
    // Typed while the card was still being read from the server.
    if (!typed.isTaken && typed.at + HELD_MS > shownAt) onEarly(typed.key)
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = (): void => {
      const left = Math.max(shownAt + READING_MS, lastDecidingKey().at + HELD_MS) - performance.now()
      if (left <= 0) setRead(true)
      else timer = setTimeout(check, left)
    }
    check()
    return () => clearTimeout(timer)
  }, [])
  return { isRead, early, onEarly }
}
