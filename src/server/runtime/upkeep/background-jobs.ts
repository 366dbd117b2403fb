/** Everything that a server does in the background. On PostgreSQL graphile-worker carries it, else this process. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import { type BackgroundJob, JOB_SCHEMA, type JobRunner } from '../../../queue/jobs.ts'
import type { NoticeStore } from '../../../store/notice-store.ts'
import { createEmbeddedJobs } from '../../../queue/embedded-jobs.ts'
import { detailOf } from '../../http/detail.ts'
import { retentionJob } from './retention.ts'
import { scheduleJob } from '../schedule.ts'
import { openBlobs, type ServerServices } from '../services.ts'
import { sweepJob } from './sweep.ts'

/** @param url of the PostgreSQL database that servers share. @throws Failure `job_runner_missing` */
export async function openBackgroundJobs(services: ServerServices, url: string | undefined): Promise<JobRunner> {
  const { store, engine, workspace, config, clock, log } = services
  const isShared = url !== undefined
  const jobs: readonly BackgroundJob[] = [
    scheduleJob({ store, engine, workspaceId: workspace.id, config, clock, log, isShared }),
    retentionJob(services),
    ...(config.notify ? [removeNoticesJob(store, clock)] : []),
    sweepJob(store, await openBlobs(services), clock),
  ]
  const failed = ({ name }: BackgroundJob, error: unknown): void =>
    log.write('warn', 'a background job failed', { job: name, detail: detailOf(error) })
  if (!isShared) return createEmbeddedJobs(jobs, { clock, failed })
  const { openGraphileJobs } = await import('../../../queue/graphile-jobs.ts')
  return await openGraphileJobs(jobs, { url, schema: JOB_SCHEMA, clock, log, failed })
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
