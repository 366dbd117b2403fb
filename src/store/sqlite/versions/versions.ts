import type { Database } from 'better-sqlite3'
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { AgentId, VersionId, WorkspaceId } from '../../../base/ids.ts'
import type { PublishedDocument } from '../../../spec/snapshot.ts'
import type { AgentVersion, StoredMember, VersionPublication } from '../../version-rows.ts'
import type { Store } from '../../store.ts'
import type { AgentTable } from '../agents.ts'
import { openMembers } from './members.ts'
import { openSources } from './sources.ts'
import { refuseConflicts } from '../../rows/version-conflict.ts'
import {
  toDeployment,
  toDocument,
  toVersion,
  type DeploymentColumns,
  type DocumentRow,
  type VersionRow,
} from '../../rows/version-rows.ts'

export interface VersionTable {
  readonly reads: Pick<
    Store,
    | 'version'
    | 'versionByDigest'
    | 'versionIdByLabel'
    | 'versions'
    | 'deployedVersions'
    | 'deployments'
    | 'documents'
    | 'sources'
  >
  /** @throws Failure `version_exists` */
  publish(publication: VersionPublication): readonly StoredMember[]
  /** @throws Failure `not_found` */
  deploy(
    agentId: AgentId,
    versionId: VersionId,
    at: Instant,
    by: string,
    message?: string,
  ): { readonly from: VersionId | null }
  /** @throws Failure `not_found` */
  setYanked(versionId: VersionId, yanked: boolean, reason?: string): void
  /** @throws Failure `not_found` */
  setDocumentYanked(
    workspaceId: WorkspaceId,
    document: Pick<PublishedDocument, 'kind' | 'id' | 'version'>,
    yanked: boolean,
    reason?: string,
  ): void
}

/** Parsed snapshots in memory: every start reads one, and they never change. */
const MAX_CACHED = 256

export function openVersions(db: Database, agents: AgentTable): VersionTable {
  const members = openMembers(db, agents)
  const sources = openSources(db)
  const one = db.prepare<[string], VersionRow>(`${SELECT} where v.id = ?`)
  const byDigest = db.prepare<[string, string], { id: VersionId }>(
    `select v.id
     from version v
       join agent a on a.n = v.agent_n
     where v.digest = ? and a.workspace_id = ?`,
  )
  const byLabel = db
    .prepare<[string, string], VersionId>(
      `select v.id
       from version v
         join agent a on a.n = v.agent_n
       where a.id = ? and v.label = ?`,
    )
    .pluck()
  const ofAgent = db.prepare<[string], VersionRow>(
    `${SELECT} where a.id = ? order by v.published_at desc, v.rowid desc`,
  )
  const deployments = db.prepare<[string], { version_id: VersionId }>(
    `select d.version_id
     from deployment d
       join agent a on a.n = d.agent_n
     where a.id = ?
     group by d.version_id
     order by max(d.rowid) desc`,
  )
  const history = db.prepare<[string, number], DeploymentColumns>(
    `select d.version_id, d.from_version_id, d.deployed_at, d.deployed_by, d.message
     from deployment d
       join agent a on a.n = d.agent_n
     where a.id = ?
     order by d.n desc
     limit ?`,
  )
  const documents = db.prepare<[string, string, string], DocumentRow>(
    `select d.kind, d.id, d.version, d.digest, d.document,
       y.version is not null as yanked, y.reason as yank_reason
     from document d
       left join yanked_document y
         on y.workspace_id = d.workspace_id and y.kind = d.kind and y.id = d.id and y.version = d.version
     where d.workspace_id = ? and d.kind = ? and d.id = ?
     order by d.published_at desc, d.rowid desc`,
  )
  const isDocument = db.prepare<[string, string, string, string], { version: string }>(
    'select version from document where workspace_id = ? and kind = ? and id = ? and version = ?',
  )
  const yankDocument = db.prepare<[string, string, string, string, string | null]>(
    `insert into yanked_document (workspace_id, kind, id, version, reason) values (?, ?, ?, ?, ?)
     on conflict do update set reason = coalesce(excluded.reason, reason)`,
  )
  const unyankDocument = db.prepare<[string, string, string, string]>(
    'delete from yanked_document where workspace_id = ? and kind = ? and id = ? and version = ?',
  )
  const yankAgent = db.prepare<[string | null, string]>(
    'update version set yanked = 1, yank_reason = coalesce(?, yank_reason) where id = ?',
  )
  const unyankAgent = db.prepare<[string]>('update version set yanked = 0, yank_reason = null where id = ?')
  const deployed = db.prepare<[string, string], { n: number; deployed_version_id: VersionId | null }>(
    `select a.n, a.deployed_version_id
     from agent a
       join version v on v.agent_n = a.n
     where a.id = ? and v.id = ?`,
  )
  const deploy = db.prepare<{ n: number; versionId: string }>(
    `update agent
     set previous_version_id = deployed_version_id, deployed_version_id = :versionId
     where n = :n`,
  )
  const insertDeployment = db.prepare(
    `insert into deployment (agent_n, version_id, from_version_id, deployed_at, deployed_by, message)
     values (:n, :versionId, :from, :at, :by, :message)`,
  )

  const cache = new Map<VersionId, AgentVersion>()
  const findVersion = (id: VersionId): AgentVersion | undefined => {
    const cached = cache.get(id)
    if (cached) return cached
    const row = one.get(id)
    if (!row) return undefined
    const found = toVersion(row)
    const [oldest] = cache.keys()
    if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest)
    cache.set(id, found)
    return found
  }

  return {
    reads: {
      ...sources.reads,
      async version(id) {
        return findVersion(id)
      },
      async versionByDigest(workspaceId, digest) {
        const row = byDigest.get(digest, workspaceId)
        return row && findVersion(row.id)
      },
      async versionIdByLabel(agentId, label) {
        return byLabel.get(agentId, label)
      },
      async versions(agentId) {
        return ofAgent.all(agentId).map(toVersion)
      },
      async deployedVersions(agentId) {
        return deployments.all(agentId).map((row) => row.version_id)
      },
      async deployments(agentId, limit) {
        return history.all(agentId, limit).map(toDeployment)
      },
      async documents(workspaceId, kind, id) {
        return documents.all(workspaceId, kind, id).map(toDocument)
      },
    },
    publish(publication) {
      refuseConflicts([
        ...publication.agents.flatMap((agent) => members.findAgentConflict(publication, agent) ?? []),
        ...publication.documents.flatMap((document) => members.findDocumentConflict(publication, document) ?? []),
      ])
      sources.keep(publication)
      return [
        ...publication.agents.map((agent) => members.publishAgent(publication, agent)),
        ...publication.documents.map((document) => members.publishDocument(publication, document)),
      ]
    },
    deploy(agentId, versionId, at, by, message) {
      const found = deployed.get(agentId, versionId)
      if (!found) throw fail('not_found', { what: 'version of this agent' })
      const from = found.deployed_version_id
      // Deploying the same version again would make it its own predecessor, and a rollback would do nothing.
      if (from !== versionId) {
        agents.clearCache()
        deploy.run({ n: found.n, versionId })
        insertDeployment.run({ n: found.n, versionId, from, at, by, message: message ?? null })
      }
      return { from }
    },
    setYanked(id, value, reason) {
      cache.delete(id)
      const { changes } = value ? yankAgent.run(reason ?? null, id) : unyankAgent.run(id)
      if (changes === 0) throw fail('not_found', { what: 'version' })
    },
    setDocumentYanked(workspaceId, { kind, id, version: number }, value, reason) {
      if (!isDocument.get(workspaceId, kind, id, number))
        throw fail('not_found', { what: `published ${kind} ${id}@${number}` })
      if (value) yankDocument.run(workspaceId, kind, id, number, reason ?? null)
      else unyankDocument.run(workspaceId, kind, id, number)
    },
  }
}

const SELECT = `
  select v.id, a.id as agent_id, a.workspace_id, v.snapshot, v.closure_digest, v.published_at, v.published_by,
         v.message, v.yanked, v.yank_reason
  from version v
    join agent a on a.n = v.agent_n`
