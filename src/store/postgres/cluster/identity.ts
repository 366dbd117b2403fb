/**
 * Whose database it is. Servers of another project, or with another bucket, would claim the runs of this one and find neither its
 * tools nor its files.
 */
import { fail } from '../../../base/failure.ts'
import { parseCertainAddress, UNREADABLE_ADDRESS } from '../../../base/net/show-address.ts'
import { SILENT_WORKER_MS } from '../../worker.ts'
import type { PostgresPool } from '../database/pool.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

export interface ClusterIdentity {
  readonly workspace: string
  /** `s3://bucket[?endpoint=…]`; undefined for a command, which need not know it. */
  readonly bucket?: string | undefined
}

interface RecordedCluster {
  workspace: string | null
  bucket: string | null
}

/** Records what is not recorded yet. @throws Failure `store_of_another` */
export async function checkCluster(pool: PostgresPool, ours: ClusterIdentity): Promise<void> {
  const row = await pool.row<RecordedCluster>(
    `update svc_schema
     set workspace = coalesce(workspace, :workspace), bucket = coalesce(bucket, :bucket)
     returning workspace, bucket`,
    { workspace: ours.workspace, bucket: ours.bucket === undefined ? null : describeBucket(ours.bucket) },
  )
  compareClusters(pool.database, expectDefined(row, 'a migrated database has its row'), ours)
}

/** The same, and records nothing. @throws Failure `store_of_another` */
export async function refuseOtherCluster(pool: PostgresPool, ours: ClusterIdentity): Promise<void> {
  const row = await pool.row<RecordedCluster>('select workspace, bucket from svc_schema')
  compareClusters(pool.database, expectDefined(row, 'a migrated database has its row'), ours)
}

function compareClusters(database: string, theirs: RecordedCluster, ours: ClusterIdentity): void {
  const differs = (what: 'workspace' | 'bucket', recorded: string | null, own: string | undefined): void => {
    if (recorded !== null && own !== undefined && recorded !== own)
      throw fail('store_of_another', { database, what, theirs: recorded, ours: own })
  }
  differs('workspace', theirs.workspace, ours.workspace)
  differs('bucket', theirs.bucket, ours.bucket === undefined ? undefined : describeBucket(ours.bucket))
}

/** @throws Failure `store_moved` */
export async function refuseMovedDatabase(pool: PostgresPool): Promise<void> {
  const row = await pool.row<{ to: string | null }>('select moved_to as to from svc_schema')
  if (row?.to) throw fail('store_moved', { store: pool.database, to: row.to })
}

/** Makes the database belong to a cluster, whoever owned it before. @throws Failure `store_served` */
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
export function describeBucket(text: string): string {
  const address = parseCertainAddress(text)
  if (!address) return UNREADABLE_ADDRESS
  const endpoint = address.searchParams.get('endpoint')
  return `s3://${address.host}${endpoint === null ? '' : ` at ${parseCertainAddress(endpoint)?.host ?? UNREADABLE_ADDRESS}`}`
}
