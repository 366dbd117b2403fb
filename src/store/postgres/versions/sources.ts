import { digestOf, type Digest } from '../../../base/digest.ts'
import type { PublishedName, SourceFile, VersionPublication } from '../../version-rows.ts'
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'
import type { PostgresQueries } from '../database/queries.ts'

export const sourceReads = (db: PostgresPool): Pick<Store, 'sources'> => ({
  async sources(workspaceId, { kind, id, version }) {
    const found = await db.row<{ closure_digest: Digest }>(
      `select closure_digest from source_member
       where workspace_id = :workspaceId and kind = :kind and id = :id and version = :version`,
      { workspaceId, kind, id, version },
    )
    if (!found) return undefined
    const closureDigest = found.closure_digest
    const files = await db.rows<SourceFile>(
      `select f.path, f.digest, t.text
       from source_file f join source_text t on t.digest = f.digest
       where f.workspace_id = :workspaceId and f.closure_digest = :closureDigest
       order by f.path`,
      { workspaceId, closureDigest },
    )
    return { closureDigest, files: files.map((file) => ({ ...file, text: JSON.parse(file.text) as string })) }
  },
})

/** Keeps the files of a publication, unless the same closure was published with files before. */
export async function keepSources(
  tx: PostgresQueries,
  { workspaceId, agents, documents, written }: VersionPublication,
): Promise<void> {
  if (!written || written.files.length === 0) return
  const { closureDigest, files } = written
  const isKept = await tx.row(
    'select path from source_file where workspace_id = :workspaceId and closure_digest = :closureDigest limit 1',
    { workspaceId, closureDigest },
  )
  if (!isKept)
    for (const { path, text } of files) {
      const digest = digestOf(text)
      // As JSON, which keeps every character: the digest is that of the file.
      await tx.run('insert into source_text (digest, text) values (:digest, :text) on conflict do nothing', {
        digest,
        text: JSON.stringify(text),
      })
      await tx.run(
        `insert into source_file (workspace_id, closure_digest, path, digest)
         values (:workspaceId, :closureDigest, :path, :digest)`,
        { workspaceId, closureDigest, path, digest },
      )
    }
  const members: readonly PublishedName[] = [
    ...agents.map(({ snapshot: { id, version } }) => ({ kind: 'Agent' as const, id, version })),
    ...documents,
  ]
  for (const { kind, id, version } of members)
    await tx.run(
      `insert into source_member (workspace_id, kind, id, version, closure_digest)
       values (:workspaceId, :kind, :id, :version, :closureDigest)
       on conflict do nothing`,
      { workspaceId, kind, id, version, closureDigest },
    )
}
