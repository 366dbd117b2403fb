/** Published versions of agents and documents, and their deployments. */
import type { Instant } from '../../../base/clock.ts'
import type { Digest } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import type { AgentId, VersionId, WorkspaceId } from '../../../base/ids.ts'
import type { AgentSnapshot, PublishedDocument } from '../../../spec/snapshot.ts'
import type { Dialect } from '../../dialect.ts'
import { toObject } from '../../rows/json-column.ts'
import { readRow, readRows, writeRows, type DatabaseWork, type NounWork, readOneRow } from '../../statement.ts'
import type { AgentVersion, DeploymentRow } from '../../version-rows.ts'
import { addDeploymentStatement, refuseOtherTrust } from './attestations.ts'
import { insertNotices } from '../notices.ts'
import { preparePublication } from './publications.ts'
import { SOURCE_READS } from './sources.ts'

interface VersionRow {
  id: VersionId
  agentId: AgentId
  workspaceId: WorkspaceId
  closureDigest: Digest
  publishedAt: Instant
  publishedBy: string
  message: string | null
  yanked: boolean | 0 | 1
  yankReason: string | null
}

const toVersion = ({ yanked, message, yankReason, ...row }: VersionRow, snapshot: AgentSnapshot): AgentVersion => ({
  ...row,
  snapshot,
  ...(message !== null && { message }),
  yanked: Boolean(yanked),
  ...(yankReason !== null && { yankReason }),
})

interface DocumentRow extends Omit<PublishedDocument, 'document' | 'yanked' | 'yankReason'> {
  document: string
  yanked: boolean | 0 | 1
  yankReason: string | null
}

const toDocument = ({ yanked, yankReason, ...row }: DocumentRow): PublishedDocument => ({
  ...row,
  document: toObject(row.document),
  ...(yanked && { yanked: true }),
  ...(yankReason !== null && { yankReason }),
})

type StoredDeployment = Omit<DeploymentRow, 'message'> & { readonly message: string | null }

const toDeployment = ({ message, ...row }: StoredDeployment): DeploymentRow => ({
  ...row,
  ...(message !== null && { message }),
})

interface DeployableRow {
  readonly agentRow: number | string
  readonly workspaceId: WorkspaceId
  readonly from: VersionId | null
  readonly until: Instant | null
}

/** Parsed snapshots in memory: every start reads one, and they never change. */
const MAX_CACHED = 256

type VersionReads =
  | 'version'
  | 'versionByDigest'
  | 'versionIdByLabel'
  | 'versions'
  | 'deployedVersions'
  | 'lastDeployment'
  | 'deployments'
  | 'documents'
  | 'sources'

export function prepareVersions(
  dialect: Dialect,
): NounWork<VersionReads, 'setYanked', 'publish' | 'deploy' | 'setDocumentYanked'> {
  const { key, column, insertionOrder, forUpdate } = dialect
  const columns = `v.id, a.id as "agentId", a.workspace_id as "workspaceId", v.closure_digest as "closureDigest",
    v.published_at as "publishedAt", v.published_by as "publishedBy", v.message, v.yanked, v.yank_reason as "yankReason"`
  const from = `from version v join agent a on a.${key} = v.${column('agent')}`
  const byId = `select ${columns} ${from} where v.id = :id`
  const byDigest = `select ${columns} ${from} where v.digest = :digest and a.workspace_id = :workspaceId`
  const byLabel = `select v.id ${from} where a.id = :agentId and v.label = :label`
  const ofAgent = `select ${columns}, v.snapshot ${from} where a.id = :agentId
    order by v.published_at desc, v.${insertionOrder} desc`
  const fromDeployments = `from deployment d join agent a on a.${key} = d.${column('agent')} where a.id = :agentId`
  const deployed = `select d.version_id as id ${fromDeployments} group by d.version_id order by max(d.n) desc`
  const lastEnd = `select d.expires_at as until ${fromDeployments} and d.version_id = :versionId order by d.n desc limit 1`
  const history = `select d.version_id as "versionId", d.from_version_id as "fromVersionId", d.deployed_at as at,
      d.deployed_by as by, d.message, d.expires_at as "expiresAt"
    ${fromDeployments} order by d.n desc limit :limit`
  const documents = `select d.kind, d.id, d.version, d.digest, d.document, y.version is not null as yanked,
      y.reason as "yankReason"
    from document d
      left join yanked_document y
        on y.workspace_id = d.workspace_id and y.kind = d.kind and y.id = d.id and y.version = d.version
    where d.workspace_id = :workspaceId and d.kind = :kind and d.id = :id
    order by d.published_at desc, d.${insertionOrder} desc`
  // The key stays as it is: a publication, which refers to it, goes on meanwhile.
  const deployable = `select a.${key} as "agentRow", a.workspace_id as "workspaceId", a.deployed_version_id as "from", a.deployed_until as "until"
    from agent a join version v on v.${column('agent')} = a.${key}
    where a.id = :agentId and v.id = :versionId ${forUpdate && 'for no key update of a'}`
  const deploy = `update agent set previous_version_id = deployed_version_id, deployed_version_id = :versionId,
      deployed_until = :expiresAt
    where ${key} = :agentRow`
  const prolong = `update agent set deployed_until = :expiresAt where ${key} = :agentRow`
  const addDeployment = `insert into deployment
      (${column('agent')}, version_id, from_version_id, deployed_at, deployed_by, message, expires_at)
    values (:agentRow, :versionId, :from, :at, :by, :message, :expiresAt)`
  const yank = `update version set yanked = :yanked, yank_reason = coalesce(:reason, yank_reason) where id = :id`
  const unyank = `update version set yanked = :yanked, yank_reason = null where id = :id`
  const isDocument = 'workspace_id = :workspaceId and kind = :kind and id = :id and version = :version'
  const yankDocument = `insert into yanked_document (workspace_id, kind, id, version, reason)
    values (:workspaceId, :kind, :id, :version, :reason)
    on conflict (workspace_id, kind, id, version) do update
    set reason = coalesce(excluded.reason, yanked_document.reason)`

  const snapshots = new Map<VersionId, AgentSnapshot>()

  /** Columns of a version that may change are read each time: a yank counts at once in every process. */
  function* findVersion(sql: string, values: Readonly<Record<string, string>>): DatabaseWork<AgentVersion | undefined> {
    const row = yield* readRow<VersionRow>(sql, values)
    if (!row) return undefined
    let snapshot = snapshots.get(row.id)
    if (!snapshot) {
      const stored = yield* readOneRow<{ snapshot: string }>('select snapshot from version where id = :id', {
        id: row.id,
      })
      snapshot = JSON.parse(stored.snapshot) as AgentSnapshot
      const [oldest] = snapshots.keys()
      if (snapshots.size >= MAX_CACHED && oldest !== undefined) snapshots.delete(oldest)
      snapshots.set(row.id, snapshot)
    }
    return toVersion(row, snapshot)
  }

  return {
    reads: {
      ...SOURCE_READS,
      version: (id) => findVersion(byId, { id }),
      versionByDigest: (workspaceId, digest) => findVersion(byDigest, { workspaceId, digest }),
      *versionIdByLabel(agentId, label) {
        return (yield* readRow<{ id: VersionId }>(byLabel, { agentId, label }))?.id
      },
      *versions(agentId) {
        const rows = yield* readRows<VersionRow & { snapshot: string }>(ofAgent, { agentId })
        return rows.map(({ snapshot, ...row }) => toVersion(row, JSON.parse(snapshot) as AgentSnapshot))
      },
      *deployedVersions(agentId) {
        return (yield* readRows<{ id: VersionId }>(deployed, { agentId })).map(({ id }) => id)
      },
      *lastDeployment(agentId, versionId) {
        return yield* readRow<{ until: Instant | null }>(lastEnd, { agentId, versionId })
      },
      *deployments(agentId, limit) {
        return (yield* readRows<StoredDeployment>(history, { agentId, limit })).map(toDeployment)
      },
      *documents(workspaceId, kind, id) {
        return (yield* readRows<DocumentRow>(documents, { workspaceId, kind, id })).map(toDocument)
      },
    },
    writes: {
      *setYanked(id, yanked, reason) {
        const changed = yield* writeRows(yanked ? yank : unyank, { id, yanked, reason })
        if (changed === 0) throw fail('not_found', { what: 'version' })
      },
    },
    transactions: {
      publish: preparePublication(dialect),
      *deploy(agentId, versionId, at, by, message, { notices = [], signed, expiresAt = null, judgedBy } = {}) {
        const found = yield* readRow<DeployableRow>(deployable, { agentId, versionId })
        if (!found) throw fail('not_found', { what: 'version of this agent' })
        const { agentRow, workspaceId, from, until } = found
        const isSame = from === versionId
        if (isSame && until === expiresAt) return { from, isChanged: false }
        yield* refuseOtherTrust(dialect, 'deployment', workspaceId, judgedBy)
        if (signed) yield* addDeploymentStatement(signed, from)
        // Deploying the same version again would make it its own predecessor, and a rollback would do nothing.
        if (isSame) yield* writeRows(prolong, { agentRow, expiresAt })
        else yield* writeRows(deploy, { agentRow, versionId, expiresAt })
        yield* writeRows(addDeployment, { agentRow, versionId, from, at, by, message, expiresAt })
        yield* insertNotices(notices)
        return { from, isChanged: true }
      },
      *setDocumentYanked(workspaceId, { kind, id, version }, yanked, reason) {
        const named = { workspaceId, kind, id, version }
        if (!(yield* readRow(`select version from document where ${isDocument}`, named)))
          throw fail('not_found', { what: `published ${kind} ${id}@${version}` })
        if (yanked) yield* writeRows(yankDocument, { ...named, reason })
        else yield* writeRows(`delete from yanked_document where ${isDocument}`, named)
      },
    },
  }
}
