import { fail } from '../../../base/failure.ts'
import type { VersionId } from '../../../base/ids.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import {
  toDeployment,
  toDocument,
  toVersion,
  type DeploymentColumns,
  type DocumentRow,
  type VersionRow,
} from '../../rows/version-rows.ts'
import type { Store } from '../../store.ts'
import type { AgentVersion } from '../../version-rows.ts'
import type { PostgresPool } from '../database/pool.ts'
import { publishMembers } from './members.ts'
import { sourceReads } from './sources.ts'

type VersionMethods = Pick<
  Store,
  | 'publish'
  | 'version'
  | 'versionByDigest'
  | 'versionIdByLabel'
  | 'versions'
  | 'deployedVersions'
  | 'deployments'
  | 'documents'
  | 'sources'
  | 'deploy'
  | 'setYanked'
  | 'setDocumentYanked'
>

/** Parsed snapshots in memory: every start reads one, and they never change. */
const MAX_CACHED = 256

export function versionMethods(db: PostgresPool): VersionMethods {
  const snapshots = new Map<VersionId, AgentSnapshot>()

  /** The columns of a version that may change are read each time: a yank counts at once in every process. */
  async function findVersion(where: string, values: Record<string, string>): Promise<AgentVersion | undefined> {
    const row = await db.row<Omit<VersionRow, 'snapshot'>>(`select ${COLUMNS} ${FROM} where ${where}`, values)
    if (!row) return undefined
    let snapshot = snapshots.get(row.id)
    if (!snapshot) {
      const stored = (await db.row<{ snapshot: string }>('select snapshot from version where id = :id', {
        id: row.id,
      }))!
      snapshot = JSON.parse(stored.snapshot) as AgentSnapshot
      const [oldest] = snapshots.keys()
      if (snapshots.size >= MAX_CACHED && oldest !== undefined) snapshots.delete(oldest)
      snapshots.set(row.id, snapshot)
    }
    return { ...toVersion({ ...row, snapshot: 'null' }), snapshot }
  }

  return {
    ...sourceReads(db),
    version: (id) => findVersion('v.id = :id', { id }),
    versionByDigest: (workspaceId, digest) =>
      findVersion('v.digest = :digest and a.workspace_id = :workspaceId', { digest, workspaceId }),
    async versionIdByLabel(agentId, label) {
      const row = await db.row<{ id: VersionId }>(
        'select id from version where agent_id = :agentId and label = :label',
        { agentId, label },
      )
      return row?.id
    },
    async versions(agentId) {
      const rows = await db.rows<VersionRow>(
        `select ${COLUMNS}, v.snapshot ${FROM} where a.id = :agentId order by v.published_at desc, v.n desc`,
        { agentId },
      )
      return rows.map(toVersion)
    },
    async deployedVersions(agentId) {
      const rows = await db.rows<{ version_id: VersionId }>(
        `select version_id from deployment where agent_id = :agentId group by version_id order by max(n) desc`,
        { agentId },
      )
      return rows.map((row) => row.version_id)
    },
    async documents(workspaceId, kind, id) {
      const rows = await db.rows<DocumentRow>(
        `select d.kind, d.id, d.version, d.digest, d.document, (y.version is not null)::int as yanked,
           y.reason as yank_reason
         from document d
           left join yanked_document y
             on y.workspace_id = d.workspace_id and y.kind = d.kind and y.id = d.id and y.version = d.version
         where d.workspace_id = :workspaceId and d.kind = :kind and d.id = :id
         order by d.published_at desc, d.n desc`,
        { workspaceId, kind, id },
      )
      return rows.map(toDocument)
    },
    publish: (publication) => db.transaction((tx) => publishMembers(tx, publication)),
    async deployments(agentId, limit) {
      const rows = await db.rows<DeploymentColumns>(
        `select version_id, from_version_id, deployed_at, deployed_by, message
         from deployment where agent_id = :agentId order by n desc limit :limit`,
        { agentId, limit },
      )
      return rows.map(toDeployment)
    },
    deploy: (agentId, versionId, at, by, message) =>
      db.transaction(async (tx) => {
        const found = await tx.row<{ deployed_version_id: VersionId | null }>(
          `select a.deployed_version_id
           from agent a join version v on v.agent_id = a.id
           where a.id = :agentId and v.id = :versionId
           for update of a`,
          { agentId, versionId },
        )
        if (!found) throw fail('not_found', { what: 'version of this agent' })
        const from = found.deployed_version_id
        // Deploying the same version again would make it its own predecessor, and a rollback would do nothing.
        if (from !== versionId) {
          await tx.run(
            `update agent set previous_version_id = deployed_version_id, deployed_version_id = :versionId
             where id = :agentId`,
            { agentId, versionId },
          )
          await tx.run(
            `insert into deployment (agent_id, version_id, from_version_id, deployed_at, deployed_by, message)
             values (:agentId, :versionId, :from, :at, :by, :message)`,
            { agentId, versionId, from, at, by, message },
          )
        }
        return { from }
      }),
    async setYanked(id, value, reason) {
      const changed = await db.run(
        value
          ? 'update version set yanked = true, yank_reason = coalesce(:reason, yank_reason) where id = :id'
          : 'update version set yanked = false, yank_reason = null where id = :id',
        { id, reason },
      )
      if (changed === 0) throw fail('not_found', { what: 'version' })
    },
    setDocumentYanked: (workspaceId, { kind, id, version }, value, reason) =>
      db.transaction(async (tx) => {
        const named = { workspaceId, kind, id, version }
        const where = 'workspace_id = :workspaceId and kind = :kind and id = :id and version = :version'
        if (!(await tx.row(`select version from document where ${where}`, named)))
          throw fail('not_found', { what: `published ${kind} ${id}@${version}` })
        if (value)
          await tx.run(
            `insert into yanked_document (workspace_id, kind, id, version, reason)
             values (:workspaceId, :kind, :id, :version, :reason)
             on conflict (workspace_id, kind, id, version) do update
             set reason = coalesce(excluded.reason, yanked_document.reason)`,
            { ...named, reason },
          )
        else await tx.run(`delete from yanked_document where ${where}`, named)
      }),
  }
}

const COLUMNS = `v.id, a.id as agent_id, a.workspace_id, v.closure_digest, v.published_at, v.published_by, v.message,
  v.yanked::int as yanked, v.yank_reason`
const FROM = 'from version v join agent a on a.id = v.agent_id'
