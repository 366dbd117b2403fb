/** Everything that a server does in the background. On PostgreSQL graphile-worker carries it, else this process. */
import { createEmbeddedJobs } from '../../../queue/embedded-jobs.ts'
import { JOB_SCHEMA, type BackgroundJob, type JobRunner } from '../../../queue/jobs.ts'
import { detailOf } from '../../http/detail.ts'
import { removeNoticesJob } from './remove-notices.ts'
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
