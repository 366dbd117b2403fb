/**
 * Reserves disk space in a file that is deleted when the disk is full, so that the outcomes of calls already made can still
 * be written. Until the space can be reserved again, new work is refused. Source: docs/design/runs-and-recovery.md#storage
 */
import { rmSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../base/clock.ts'

export interface DiskBallast {
  /** Frees the reserved space. @returns false when it was already freed */
  release(): boolean
  /** True while the space is reserved and new work may be accepted. Otherwise tries every few seconds to reserve it again. */
  isHeld(): boolean
}

/** For a store in memory, and for commands that accept no work. */
export const NO_BALLAST: DiskBallast = { release: () => false, isHeld: () => true }

/** Between two attempts to reserve the space again. */
const RETRY_MS = 5000

/** Its file in a data directory. */
export const ballastOf = (directory: string): string => join(directory, 'ballast')

/** Writes the file in the background unless it already has the right size. */
export function openBallast(file: string, bytes: number, clock: Pick<Clock, 'monotonic'>): DiskBallast {
  let held = true
  let triedAt = clock.monotonic()
  void reserve()
  return {
    release() {
      if (!held) return false
      held = false
      triedAt = clock.monotonic()
      rmSync(file, { force: true })
      return true
    },
    isHeld() {
      if (!held && clock.monotonic() - triedAt >= RETRY_MS) void reserve()
      return held
    },
  }

  async function reserve(): Promise<void> {
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
      // A partial file reserves too little, and others need the space.
      await rm(file, { force: true }).catch(() => {})
    }
  }
}
