/** Whether a key can be meant for the card that is shown. The rule and its words are the terminal's. */
import { useEffect, useState } from 'preact/hooks'
import { describeEarlyKeys, untilKeysDecide } from '../../view/card-reading.ts'
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
  readonly onEarly: (key: string) => void
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
    if (!typed.isTaken && untilKeysDecide(-Infinity, typed.at, shownAt) > 0) onEarly(typed.key)
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = (): void => {
      const left = untilKeysDecide(shownAt, lastDecidingKey().at, performance.now())
      if (left <= 0) setRead(true)
      else timer = setTimeout(check, left)
    }
    check()
    return () => clearTimeout(timer)
  }, [])
  return { isRead, early, onEarly }
}
