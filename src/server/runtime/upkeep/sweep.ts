/**
 * Deletes what expired upload addresses leave behind: uploads that were never finalized, whose quota is released, and bytes
 * that were sent again after the upload was finalized. Source: docs/design/security.md#files-and-uploads
 */
import type { Blobs } from '../../../blobs/blobs.ts'
import type { Clock } from '../../../base/clock.ts'
import type { BackgroundJob } from '../../../queue/jobs.ts'
import type { CatalogStore } from '../../../store/catalog-store.ts'

const EVERY_MS = 600_000
const BATCH = 100
/** Bytes that arrived in time may still be finalized this long after their address expired. */
const FINALIZE_GRACE_MS = 3_600_000

export async function sweepUploads(store: CatalogStore, blobs: Blobs, clock: Clock): Promise<void> {
  for (;;) {
    const expired = await store.expiredUploads(clock.now() - FINALIZE_GRACE_MS, BATCH)
    for (const file of expired) {
      await blobs.delete(file.stagingKey)
      await (file.finalizedAt === null ? store.deleteFile(file.id) : store.closeUpload(file.id))
    }
    if (expired.length < BATCH) return
  }
}

export const sweepJob = (store: CatalogStore, blobs: Blobs, clock: Clock): BackgroundJob => ({
  name: 'sweep',
  async run() {
    await sweepUploads(store, blobs, clock)
    return clock.now() + EVERY_MS
  },
})
