/**
 * Deletes what expired upload addresses leave behind: uploads that were never finalized, whose quota is released, and bytes
 * that were sent again after the upload was finalized. Source: security, S23.
 */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { detailOf } from '../http/detail.ts'
import type { Store } from '../../store/store.ts'

const EVERY_MS = 600_000
const BATCH = 100
/** Bytes that arrived in time may still be finalized this long after their address expired. */
const FINALIZE_GRACE_MS = 3_600_000

export async function sweepUploads(store: Store, blobs: Blobs, clock: Clock): Promise<void> {
  for (;;) {
    const expired = await store.expiredUploads(clock.now() - FINALIZE_GRACE_MS, BATCH)
    for (const file of expired) {
      await blobs.delete(file.stagingKey)
      await (file.finalizedAt === null ? store.deleteFile(file.id) : store.closeUpload(file.id))
    }
    if (expired.length < BATCH) return
  }
}

/** Sweeps every ten minutes until stopped. */
export function startSweeping(store: Store, blobs: Blobs, clock: Clock, log: Log): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const sweep = async () => {
    try {
      await sweepUploads(store, blobs, clock)
    } catch (error) {
      log.write('warn', 'sweep of expired uploads failed', { detail: detailOf(error) })
    }
  }
  const timer = setInterval(() => void (running = running.then(sweep)), EVERY_MS)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}
