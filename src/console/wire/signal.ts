/** Values that change outside the screens that show them: the address, the clock, what the server told. */
import { useLayoutEffect, useReducer } from 'preact/hooks'

export interface Signal<T> {
  value: T
  /** @returns ends it */
  subscribe(listener: () => void): () => void
}

export function createSignal<T>(first: T): Signal<T> {
  const listeners = new Set<() => void>()
  let current = first
  return {
    get value() {
      return current
    },
    set value(next) {
      if (Object.is(next, current)) return
      current = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The value now; the component is drawn again whenever it is another. */
export function useSignal<T>(source: Signal<T>): T {
  const drawn = source.value
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  useLayoutEffect(() => {
    // What was set between drawing and this effect has told nobody.
    if (!Object.is(source.value, drawn)) drawAgain(undefined)
    return source.subscribe(() => drawAgain(undefined))
  }, [source])
  return drawn
}
