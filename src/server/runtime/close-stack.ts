/** @param graceMs how long work in flight may take to end */
export type CloseAction = (graceMs: number) => void | Promise<void>

/** The parts of a server that are open. */
export interface CloseStack {
  push(close: CloseAction): void
  /** Closes the last opened part first. A part that fails to close does not keep the others open. */
  closeAll(graceMs: number): Promise<void>
}

export function createCloseStack(): CloseStack {
  const actions: CloseAction[] = []
  const closeAll = async (graceMs: number): Promise<void> => {
    const close = actions.pop()
    if (!close) return
    try {
      await close(graceMs)
    } finally {
      await closeAll(graceMs)
    }
  }
  return { push: (close) => void actions.push(close), closeAll }
}
