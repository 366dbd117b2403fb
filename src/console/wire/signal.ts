/** A value that changes outside any one component. Whoever shows it subscribes. */
export interface ReadonlySignal<T> {
  readonly value: T
  /** Calls `listener` with the value at once, then with each other value. @returns ends it */
  subscribe(listener: (value: T) => void): () => void
}

export interface Signal<T> extends ReadonlySignal<T> {
  value: T
}

export function createSignal<T>(first: T): Signal<T> {
  const listeners = new Set<(value: T) => void>()
  let current = first
  return {
    get value() {
      return current
    },
    set value(next) {
      if (Object.is(next, current)) return
      current = next
      for (const listener of listeners) listener(next)
    },
    subscribe(listener) {
      listeners.add(listener)
      listener(current)
      return () => void listeners.delete(listener)
    },
  }
}
