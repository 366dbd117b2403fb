/** Publications: each version of an agent or document is stored once. */
import type { JsonObject } from '../../../base/json/json.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import type { Dialect } from '../../dialect.ts'
import { toColumnText, toObject } from '../../rows/json-column.ts'
import { describeDifferences, refuseConflicts, type VersionConflict } from '../../rows/version-conflict.ts'
import { readRow, writeRows, type DatabaseWork } from '../../statement.ts'
import type { StoredMember, VersionPublication } from '../../version-rows.ts'
import { addAttestations, refuseOtherTrust } from './attestations.ts'
import { keepSources } from './sources.ts'

/** What is new of a publication, or was published before: a member, its content and the row that keeps it. */
interface Member extends Omit<StoredMember, 'already'> {
  readonly content: JsonObject
  /** The stored version; `undefined` where there is none. */
  readonly known: { readonly digest: string; readonly content: string } | undefined
  readonly insert: () => DatabaseWork<number>
}

/** @returns work that stores a publication, or nothing of it @throws Failure `version_exists` */
export function preparePublication(dialect: Dialect) {
  const { column, agentRow, lock } = dialect
  const insertAgent = `insert into agent (id, workspace_id, name) values (:agentId, :workspaceId, :name) on conflict do nothing`
  const agent = column('agent')
  const knownVersion = `select digest, snapshot as content from version where ${agent} = ${agentRow} and label = :version`
  const insertVersion = `insert into version
      (id, ${agent}, label, digest, closure_digest, snapshot, published_at, published_by, message)
    values (:id, ${agentRow}, :version, :digest, :closureDigest, :text, :at, :by, :message)`
  const knownDocument = `select digest, document as content from document
    where workspace_id = :workspaceId and kind = :kind and id = :id and version = :version`
  const insertDocument = `insert into document (workspace_id, kind, id, version, digest, document, published_at, published_by)
    values (:workspaceId, :kind, :id, :version, :digest, :text, :at, :by)`

  return function* publish(publication: VersionPublication): DatabaseWork<readonly StoredMember[]> {
    const { workspaceId, at, by, message } = publication
    // Publications of a workspace run one after the other: two of the same version must not both find it new.
    yield* lock(`publish ${workspaceId}`)
    yield* refuseOtherTrust(dialect, 'publication', workspaceId, publication.judgedBy)
    const members: Member[] = []
    for (const { id, agentId, snapshot, closureDigest } of publication.agents) {
      const { version, digest } = snapshot
      yield* writeRows(insertAgent, { agentId, workspaceId, name: snapshot.id })
      members.push({
        kind: 'Agent',
        id: snapshot.id,
        version,
        digest,
        content: toJson(snapshot),
        known: yield* readRow(knownVersion, { agentId, workspaceId, version }),
        insert: () =>
          writeRows(insertVersion, {
            id,
            agentId,
            workspaceId,
            version,
            digest,
            closureDigest,
            at,
            by,
            message,
            text: toColumnText(snapshot),
          }),
      })
    }
    for (const { kind, id, version, digest, document } of publication.documents)
      members.push({
        kind,
        id,
        version,
        digest,
        content: document,
        known: yield* readRow(knownDocument, { workspaceId, kind, id, version }),
        insert: () =>
          writeRows(insertDocument, {
            workspaceId,
            kind,
            id,
            version,
            digest,
            at,
            by,
            text: toColumnText(document),
          }),
      })
    refuseConflicts(members.flatMap(conflictOf))
    yield* keepSources(publication)
    yield* addAttestations(publication.attestations ?? [])
    for (const { known, insert } of members) if (!known) yield* insert()
    return members.map(({ kind, id, version, digest, known }) => ({
      kind,
      id,
      version,
      digest,
      already: known !== undefined,
    }))
  }
}

const conflictOf = ({ id, version, digest, content, known }: Member): readonly VersionConflict[] =>
  !known || known.digest === digest
    ? []
    : [{ id, version, differs: describeDifferences(toObject(known.content), content) }]
