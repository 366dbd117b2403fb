/** `setTimeout` and `clearTimeout`; tests replace them. */
export interface QueueTimers {
  /** Calls back once after `ms` milliseconds, unless cleared. */
  set(callback: () => void, ms: number): unknown
  clear(handle: unknown): void
}

export const systemTimers: QueueTimers = {
  set: (callback, ms) => setTimeout(callback, ms).unref(),
  clear: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
}
