/**
 * Named pipes among the files that a user names, process substitution of a shell among them: a pipe to which nobody writes would
 * hold its reader for ever, in a call that no signal ends.
 */
import { constants } from 'node:fs'

/** Opens a pipe that has no writer yet. Windows has no such flag, and no such pipes. */
export const WITHOUT_WAITING = (constants as { readonly O_NONBLOCK?: number }).O_NONBLOCK ?? 0

/** For a writer to come. One that is there may take as long as it likes. */
export const FIFO_WAIT_MS = 3000
export const FIFO_POLL_MS = 20

/** There is a writer, and it has not written yet. */
export const isNotYetReadable = (error: unknown): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === 'EAGAIN'

export const silentFifo = (path: string): Error =>
  Object.assign(new Error(`Nobody writes to the pipe '${path}'.`), { code: 'ERR_FIFO_SILENT', syscall: 'read', path })
