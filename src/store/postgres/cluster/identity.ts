/**
 * Whose database it is. Servers of another project, or with another bucket, would claim the runs of this one and find neither its
 * tools nor its files.
 */
import { fail } from '../../../base/failure.ts'
import { SILENT_WORKER_MS } from '../../worker.ts'
import type { PostgresPool } from '../database/pool.ts'

export interface ClusterIdentity {
  readonly workspace: string
  /** `s3://bucket[?endpoint=…]`; undefined for a command, which need not know it. */
  readonly bucket?: string | undefined
}

/** Records what is not recorded yet. @throws Failure `store_of_another` */
export async function checkCluster(pool: PostgresPool, ours: ClusterIdentity): Promise<void> {
  const bucket = ours.bucket === undefined ? null : describeBucket(ours.bucket)
  const row = await pool.row<{ workspace: string; bucket: string | null }>(
    `update svc_schema
     set workspace = coalesce(workspace, :workspace), bucket = coalesce(bucket, :bucket)
     returning workspace, bucket`,
    { workspace: ours.workspace, bucket },
  )
  const { database } = pool
  if (row!.workspace !== ours.workspace)
    throw fail('store_of_another', { database, what: 'workspace', theirs: row!.workspace, ours: ours.workspace })
  if (bucket !== null && row!.bucket !== null && row!.bucket !== bucket)
    throw fail('store_of_another', { database, what: 'bucket', theirs: row!.bucket, ours: bucket })
}

/** Makes the database that of a cluster, whosever it was. @throws Failure `store_served` */
export async function claimCluster(pool: PostgresPool, { workspace, bucket }: ClusterIdentity): Promise<void> {
  const serving = await pool.row<{ id: string }>(
    `select id from worker where seen_at > svc_now(null) - ${SILENT_WORKER_MS} limit 1`,
  )
  if (serving) throw fail('store_served', { store: pool.database, worker: serving.id })
  await pool.run('update svc_schema set workspace = :workspace, bucket = :bucket', {
    workspace,
    bucket: bucket === undefined ? null : describeBucket(bucket),
  })
}

/** Name and endpoint, without anything else that the address may hold. */
function describeBucket(text: string): string {
  const { host, searchParams } = new URL(text)
  const endpoint = searchParams.get('endpoint')
  return `s3://${host}${endpoint === null ? '' : ` at ${URL.canParse(endpoint) ? new URL(endpoint).host : endpoint}`}`
}
