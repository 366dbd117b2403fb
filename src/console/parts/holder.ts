import { useRef } from 'preact/hooks'

/**
 * Hands something large to a part of a screen. A component that is not drawn again keeps the properties of its last drawing, and
 * with them those of everything around it then: a holder is the same each time, so that what it held before can go.
 */
export interface Holder<T> {
  readonly current: T
}

/** Narrows a holder to one that holds something now. */
export const isFilled = <T>(holder: Holder<T | undefined>): holder is Holder<T> => holder.current !== undefined

/** @returns the holder, and a number that is another one whenever `value` is: it makes a part be drawn again */
export function useHolder<T>(value: T): readonly [holder: Holder<T>, change: number] {
  const holder = useRef(value)
  const change = useRef(0)
  if (holder.current !== value) {
    holder.current = value
    change.current++
  }
  return [holder, change.current]
}
