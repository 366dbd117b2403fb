/** The members of publications: each version of an agent or document is stored once. */
import type { JsonObject } from '../../../base/json/json.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import { toColumnText, toObject } from '../../rows/json-column.ts'
import { describeDifferences, refuseConflicts, type VersionConflict } from '../../rows/version-conflict.ts'
import type { StoredMember, VersionPublication } from '../../version-rows.ts'
import type { PostgresQueries } from '../database/queries.ts'
import { keepSources } from './sources.ts'

export async function publishMembers(
  tx: PostgresQueries,
  publication: VersionPublication,
): Promise<readonly StoredMember[]> {
  const { workspaceId, agents, documents, at, by, message } = publication
  // Publications of a workspace run one after the other: two of the same version must not both find it new.
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
      return conflictOf({ id, version, digest }, known.get(agent), toJson(agent.snapshot))
    }),
    ...documents.flatMap((each) => conflictOf(each, known.get(each), each.document)),
  ])
  await keepSources(tx, publication)
  const members: StoredMember[] = []
  for (const agent of agents) {
    const { id, agentId, snapshot, closureDigest } = agent
    const { version, digest } = snapshot
    if (!known.has(agent))
      await tx.run(
        `insert into version (id, agent_id, label, digest, closure_digest, snapshot, published_at, published_by, message)
         values (:id, :agentId, :version, :digest, :closureDigest, :snapshot, :at, :by, :message)`,
        { id, agentId, version, digest, closureDigest, snapshot: toColumnText(snapshot), at, by, message },
      )
    members.push({ kind: 'Agent', id: snapshot.id, version, digest, already: known.has(agent) })
  }
  for (const each of documents) {
    const { kind, id, version, digest, document } = each
    if (!known.has(each))
      await tx.run(
        `insert into document (workspace_id, kind, id, version, digest, document, published_at, published_by)
         values (:workspaceId, :kind, :id, :version, :digest, :document, :at, :by)`,
        { workspaceId, kind, id, version, digest, document: toColumnText(document), at, by },
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
