import type { ReadonlySignal } from './signal.ts'
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'

/** The value now; the component is drawn again whenever it is another. */
export function useSignal<T>(source: ReadonlySignal<T>): T {
  const drawn = useRef<T>()
  drawn.current = source.value
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  // A subscriber is told the value at once: what was set since it was drawn is not missed.
  useLayoutEffect(
    () =>
      source.subscribe((value) => {
        if (!Object.is(value, drawn.current)) drawAgain(undefined)
      }),
    [source],
  )
  return drawn.current
}
