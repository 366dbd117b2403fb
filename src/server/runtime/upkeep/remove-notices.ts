/** Removes notices that ended long ago from the outbox. Source: docs/design/notifications.md#the-outbox */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import type { BackgroundJob } from '../../../queue/jobs.ts'
import type { NoticeStore } from '../../../store/notice-store.ts'

const EVERY_MS = 3_600_000
const KEPT_MS = 30 * 86_400_000
/** Rows per transaction, and the pause between two, for starts, saves and reads. */
const CHUNK = 1000
const PAUSE_MS = 20

export const removeNoticesJob = (store: Pick<NoticeStore, 'deleteNotices'>, clock: Clock): BackgroundJob => ({
  name: 'notices',
  async run(signal) {
    while (!signal.aborted && (await store.deleteNotices(clock.now() - KEPT_MS, CHUNK)) === CHUNK)
      await wait(PAUSE_MS, undefined, { signal }).catch(() => {})
    return clock.now() + EVERY_MS
  },
})
