import { fail } from '../../base/failure.ts'
import type { VersionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { toObject } from '../rows/json-column.ts'
import { describeDifferences, refuseConflicts, type VersionConflict } from '../rows/version-conflict.ts'
import { toDocument, toVersion, type DocumentRow, type VersionRow } from '../rows/version-rows.ts'
import type { Store } from '../store.ts'
import type { AgentVersion, StoredMember, VersionPublication } from '../version-rows.ts'
import type { PostgresPool, PostgresQueries } from './database/pool.ts'

type VersionMethods = Pick<
  Store,
  | 'publish'
  | 'version'
  | 'versionByDigest'
  | 'versions'
  | 'deployedVersions'
  | 'documents'
  | 'deploy'
  | 'setYanked'
  | 'setDocumentYanked'
>

/** Parsed snapshots in memory: every start reads one, and they never change. */
const MAX_CACHED = 256

export function versionMethods(db: PostgresPool): VersionMethods {
  const snapshots = new Map<VersionId, AgentSnapshot>()

  /** What may change of a version is read each time: a yank counts at once in every process. */
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
    version: (id) => findVersion('v.id = :id', { id }),
    versionByDigest: (workspaceId, digest) =>
      findVersion('v.digest = :digest and a.workspace_id = :workspaceId', { digest, workspaceId }),
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
    deploy: (agentId, versionId, at, by) =>
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
            `insert into deployment (agent_id, version_id, from_version_id, deployed_at, deployed_by)
             values (:agentId, :versionId, :from, :at, :by)`,
            { agentId, versionId, from, at, by },
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

async function publishMembers(tx: PostgresQueries, publication: VersionPublication): Promise<readonly StoredMember[]> {
  const { workspaceId, agents, documents, at, by } = publication
  // One publication of a workspace after the other: two of the same version must not both find it new.
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended(current_schema() || ' publish ' || :workspaceId, 0))`, {
    workspaceId,
  })
  const known = new Map<object, { readonly digest: string; readonly content: string }>()
  for (const agent of agents) {
    const { id, version } = agent.snapshot
    await tx.run(
      'insert into agent (id, workspace_id, name) values (:agentId, :workspaceId, :id) on conflict do nothing',
      {
        agentId: agent.agentId,
        workspaceId,
        id,
      },
    )
    const found = await tx.row<{ digest: string; content: string }>(
      'select digest, snapshot as content from version where agent_id = :agentId and label = :version',
      { agentId: agent.agentId, version },
    )
    if (found) known.set(agent, found)
  }
  for (const document of documents) {
    const { kind, id, version } = document
    const found = await tx.row<{ digest: string; content: string }>(
      `select digest, document as content from document
       where workspace_id = :workspaceId and kind = :kind and id = :id and version = :version`,
      { workspaceId, kind, id, version },
    )
    if (found) known.set(document, found)
  }
  refuseConflicts([
    ...agents.flatMap((agent) => {
      const { id, version, digest } = agent.snapshot
      return conflictOf({ id, version, digest }, known.get(agent), { ...agent.snapshot } as unknown as JsonObject)
    }),
    ...documents.flatMap((each) => conflictOf(each, known.get(each), each.document)),
  ])
  const members: StoredMember[] = []
  for (const agent of agents) {
    const { id, agentId, snapshot, closureDigest } = agent
    const { version, digest } = snapshot
    if (!known.has(agent))
      await tx.run(
        `insert into version (id, agent_id, label, digest, closure_digest, snapshot, published_at, published_by)
         values (:id, :agentId, :version, :digest, :closureDigest, :snapshot, :at, :by)`,
        { id, agentId, version, digest, closureDigest, snapshot: JSON.stringify(snapshot), at, by },
      )
    members.push({ kind: 'Agent', id: snapshot.id, version, digest, already: known.has(agent) })
  }
  for (const each of documents) {
    const { kind, id, version, digest, document } = each
    if (!known.has(each))
      await tx.run(
        `insert into document (workspace_id, kind, id, version, digest, document, published_at, published_by)
         values (:workspaceId, :kind, :id, :version, :digest, :document, :at, :by)`,
        { workspaceId, kind, id, version, digest, document: JSON.stringify(document), at, by },
      )
    members.push({ kind, id, version, digest, already: known.has(each) })
  }
  return members
}

const conflictOf = (
  { id, version, digest }: { readonly id: string; readonly version: string; readonly digest: string },
  known: { readonly digest: string; readonly content: string } | undefined,
  content: JsonObject,
): readonly VersionConflict[] =>
  !known || known.digest === digest
    ? []
    : [{ id, version, differs: describeDifferences(toObject(known.content), content) }]

const COLUMNS = `v.id, a.id as agent_id, a.workspace_id, v.closure_digest, v.published_at, v.published_by,
  v.yanked::int as yanked, v.yank_reason`
const FROM = 'from version v join agent a on a.id = v.agent_id'
