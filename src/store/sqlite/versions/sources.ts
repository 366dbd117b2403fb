import type { Database } from 'better-sqlite3'
import { digestOf, type Digest } from '../../../base/digest.ts'
import type { PublishedName, SourceFile, VersionPublication } from '../../version-rows.ts'
import type { Store } from '../../store.ts'

export interface SourceTable {
  readonly reads: Pick<Store, 'sources'>
  /** Keeps the files of a publication, unless the same closure was published with files before. */
  keep(publication: VersionPublication): void
}

export function openSources(db: Database): SourceTable {
  const insertText = db.prepare<[string, string]>(
    'insert into source_text (digest, text) values (?, ?) on conflict do nothing',
  )
  const insertFile = db.prepare<[string, string, string, string]>(
    'insert into source_file (workspace_id, closure_digest, path, digest) values (?, ?, ?, ?)',
  )
  const insertMember = db.prepare<[string, string, string, string, string]>(
    `insert into source_member (workspace_id, kind, id, version, closure_digest) values (?, ?, ?, ?, ?)
     on conflict do nothing`,
  )
  const isKept = db.prepare<[string, string], { path: string }>(
    'select path from source_file where workspace_id = ? and closure_digest = ? limit 1',
  )
  const closureOf = db.prepare<[string, string, string, string], { closure_digest: Digest }>(
    'select closure_digest from source_member where workspace_id = ? and kind = ? and id = ? and version = ?',
  )
  const files = db.prepare<[string, string], SourceFile>(
    `select f.path, f.digest, t.text
     from source_file f
       join source_text t on t.digest = f.digest
     where f.workspace_id = ? and f.closure_digest = ?
     order by f.path`,
  )

  return {
    reads: {
      async sources(workspaceId, { kind, id, version }) {
        const row = closureOf.get(workspaceId, kind, id, version)
        return row && { closureDigest: row.closure_digest, files: files.all(workspaceId, row.closure_digest) }
      },
    },
    keep({ workspaceId, agents, documents, written }) {
      if (!written || written.files.length === 0) return
      const { closureDigest, files: sources } = written
      if (!isKept.get(workspaceId, closureDigest))
        for (const { path, text } of sources) {
          const digest = digestOf(text)
          insertText.run(digest, text)
          insertFile.run(workspaceId, closureDigest, path, digest)
        }
      const members: readonly PublishedName[] = [
        ...agents.map(({ snapshot: { id, version } }) => ({ kind: 'Agent' as const, id, version })),
        ...documents,
      ]
      for (const { kind, id, version } of members) insertMember.run(workspaceId, kind, id, version, closureDigest)
    },
  }
}
