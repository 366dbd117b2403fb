/** @param graceMs how long work in flight may still take to end */
export type CloseAction = (graceMs: number) => void | Promise<void>

/** The parts of a server that are open. */
export interface CloseStack {
  push(close: CloseAction): void
  /** Closes the last opened part first; all of them share the time. A part that fails to close does not keep the others open. */
  closeAll(graceMs: number): Promise<void>
}

export function createCloseStack(): CloseStack {
  const actions: CloseAction[] = []
  const closeUntil = async (until: number): Promise<void> => {
    const close = actions.pop()
    if (!close) return
    try {
      await close(Math.max(0, until - performance.now()))
    } finally {
      await closeUntil(until)
    }
  }
  return { push: (close) => void actions.push(close), closeAll: (graceMs) => closeUntil(performance.now() + graceMs) }
}
