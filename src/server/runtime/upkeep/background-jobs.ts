/** Everything that a server does in the background. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import { isStoreAway } from '../../../store/store-away.ts'
import { createJobRunner, type BackgroundJob, type JobRunner } from '../../../queue/jobs.ts'
import type { NoticeStore } from '../../../store/notice-store.ts'
import { detailOf } from '../../http/detail.ts'
import { retentionJob } from './retention.ts'
import { scheduleJob } from '../schedule.ts'
import { openBlobs, type ServerServices } from '../services.ts'
import { sweepJob } from './sweep.ts'

interface BackgroundOptions {
  /** Whether several servers may share the store. */
  readonly isShared: boolean
  /** Whether this is the one of them that runs the jobs. */
  readonly isFirst: () => boolean
}

export async function openBackgroundJobs(
  services: ServerServices,
  { isShared, isFirst }: BackgroundOptions,
): Promise<JobRunner> {
  const { store, engine, workspace, config, clock, log } = services
  const jobs: readonly BackgroundJob[] = [
    scheduleJob({ store, engine, workspaceId: workspace.id, config, clock, log, isShared }),
    retentionJob(services),
    ...(config.notify ? [removeNoticesJob(store, clock)] : []),
    sweepJob(store, await openBlobs(services), clock),
  ]
  const failed = ({ name }: BackgroundJob, error: unknown): void => {
    // The store logs an outage itself, once.
    if (!isStoreAway(error)) log.write('warn', 'a background job failed', { job: name, detail: detailOf(error) })
  }
  return createJobRunner(jobs, { clock, isOurTurn: () => !isShared || isFirst(), failed })
}

const NOTICES_EVERY_MS = 3_600_000
const NOTICES_KEPT_MS = 30 * 86_400_000
/** Rows per transaction, and the pause between two, for starts, saves and reads. */
const CHUNK = 1000
const PAUSE_MS = 20

/** Removes notices that ended long ago from the outbox. Source: docs/design/notifications.md#the-outbox */
const removeNoticesJob = (store: Pick<NoticeStore, 'deleteNotices'>, clock: Clock): BackgroundJob => ({
  name: 'notices',
  async run(signal) {
    while (!signal.aborted && (await store.deleteNotices(clock.now() - NOTICES_KEPT_MS, CHUNK)) === CHUNK)
      await wait(PAUSE_MS, undefined, { signal }).catch(() => {})
    return clock.now() + NOTICES_EVERY_MS
  },
})
