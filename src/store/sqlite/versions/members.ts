import type { Database } from 'better-sqlite3'
import type { Digest } from '../../../base/digest.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import type { PublishedDocument } from '../../../spec/snapshot.ts'
import type { StoredMember, VersionPublication } from '../../version-rows.ts'
import type { AgentTable } from '../agents.ts'
import { toObject, toText } from '../../rows/json-column.ts'
import { describeDifferences, type VersionConflict } from '../../rows/version-conflict.ts'

/** The members of publications: each version of an agent or document is stored once. */
export function openMembers(db: Database, agents: AgentTable) {
  const knownAgent = db.prepare<[number, string], { digest: Digest; snapshot: string }>(
    'select digest, snapshot from version where agent_n = ? and label = ?',
  )
  const insertAgent = db.prepare(
    `insert into version (id, agent_n, label, digest, closure_digest, snapshot, published_at, published_by, message)
     values (:id, :agentN, :label, :digest, :closureDigest, :snapshot, :at, :by, :message)`,
  )
  const knownDocument = db.prepare<[string, string, string, string], { digest: Digest; document: string }>(
    'select digest, document from document where workspace_id = ? and kind = ? and id = ? and version = ?',
  )
  const insertDocument = db.prepare(
    `insert into document (workspace_id, kind, id, version, digest, document, published_at, published_by)
     values (:workspaceId, :kind, :id, :version, :digest, :document, :at, :by)`,
  )

  const findPublished = (
    { workspaceId }: VersionPublication,
    { agentId, snapshot }: VersionPublication['agents'][number],
  ) => knownAgent.get(agents.numberOf(agentId, workspaceId, snapshot.id), snapshot.version)

  return {
    /** Undefined when this version is new, or was published with the same content. */
    findAgentConflict(
      publication: VersionPublication,
      agent: VersionPublication['agents'][number],
    ): VersionConflict | undefined {
      const known = findPublished(publication, agent)
      const { id, version, digest } = agent.snapshot
      if (!known || known.digest === digest) return undefined
      const content = toJson(agent.snapshot)
      return { id, version, differs: describeDifferences(toObject(known.snapshot), content) }
    },
    findDocumentConflict(
      { workspaceId }: VersionPublication,
      { kind, id, version, digest, document }: PublishedDocument,
    ): VersionConflict | undefined {
      const known = knownDocument.get(workspaceId, kind, id, version)
      if (!known || known.digest === digest) return undefined
      return { id, version, differs: describeDifferences(toObject(known.document), document) }
    },
    publishAgent(publication: VersionPublication, agent: VersionPublication['agents'][number]): StoredMember {
      const { workspaceId, at, by, message = null } = publication
      const { id, agentId, snapshot, closureDigest } = agent
      const { version, digest } = snapshot
      const known = findPublished(publication, agent)
      if (!known) {
        const agentN = agents.numberOf(agentId, workspaceId, snapshot.id)
        const text = toText(snapshot)
        insertAgent.run({ id, agentN, label: version, digest, closureDigest, snapshot: text, at, by, message })
      }
      return { kind: 'Agent', id: snapshot.id, version, digest, already: known !== undefined }
    },
    publishDocument(
      { workspaceId, at, by }: VersionPublication,
      { kind, id, version, digest, document }: PublishedDocument,
    ): StoredMember {
      const known = knownDocument.get(workspaceId, kind, id, version)
      if (!known) insertDocument.run({ workspaceId, kind, id, version, digest, document: toText(document), at, by })
      return { kind, id, version, digest, already: known !== undefined }
    },
  }
}
