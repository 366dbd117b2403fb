/**
 * Room kept back for what must be written when the disk is full: the outcomes of calls that were made. While it is given
 * away, nothing new is taken on. Source: reliability, "Storage rules".
 */
import { rmSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import type { Clock } from '../../../base/clock.ts'

export interface DiskBallast {
  /** Gives the room away. @returns false when it was given away already */
  release(): boolean
  /** True while new work may be taken on; looks now and then whether the room can be had again. */
  isHeld(): boolean
}

/** For a store in memory, and for commands that take on nothing. */
export const NO_BALLAST: DiskBallast = { release: () => false, isHeld: () => true }

/** Milliseconds between two tries to have the room again. */
const TRY_AGAIN_MS = 5000

/** Writes the file where it is not there or not whole, beside whatever else goes on. */
export function keepBallast(file: string, bytes: number, clock: Pick<Clock, 'monotonic'>): DiskBallast {
  let held = true
  let triedAt = clock.monotonic()
  void take()
  return {
    release() {
      if (!held) return false
      held = false
      triedAt = clock.monotonic()
      rmSync(file, { force: true })
      return true
    },
    isHeld() {
      if (!held && clock.monotonic() - triedAt >= TRY_AGAIN_MS) void take()
      return held
    },
  }

  async function take(): Promise<void> {
    triedAt = clock.monotonic()
    try {
      const size = await stat(file).then(
        (found) => found.size,
        () => 0,
      )
      if (size !== bytes) await writeFile(file, Buffer.alloc(bytes), { mode: 0o600 })
      held = true
    } catch {
      held = false
      // Half of it is no ballast, and its room is wanted by others.
      await rm(file, { force: true }).catch(() => {})
    }
  }
}
