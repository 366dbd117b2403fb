/** The files of publications as they were written. */
import { digestOf, type Digest } from '../../../base/digest.ts'
import { readRow, readRows, writeRows, type DatabaseWork, type NounWork } from '../../statement.ts'
import type { PublishedName, SourceFile, VersionPublication } from '../../version-rows.ts'

const TEXT = 'insert into source_text (digest, text) values (:digest, :text) on conflict do nothing'
const FILE = `insert into source_file (workspace_id, closure_digest, path, digest)
  values (:workspaceId, :closureDigest, :path, :digest)`
const MEMBER = `insert into source_member (workspace_id, kind, id, version, closure_digest)
  values (:workspaceId, :kind, :id, :version, :closureDigest) on conflict do nothing`
const IS_KEPT =
  'select path from source_file where workspace_id = :workspaceId and closure_digest = :closureDigest limit 1'
const CLOSURE = `select closure_digest from source_member
  where workspace_id = :workspaceId and kind = :kind and id = :id and version = :version`
const SOURCES = `select f.path, f.digest, t.text
  from source_file f join source_text t on t.digest = f.digest
  where f.workspace_id = :workspaceId and f.closure_digest = :closureDigest
  order by f.path`

export const SOURCE_READS: NounWork<'sources', never>['reads'] = {
  *sources(workspaceId, { kind, id, version }) {
    const found = yield* readRow<{ closure_digest: Digest }>(CLOSURE, { workspaceId, kind, id, version })
    if (!found) return undefined
    const closureDigest = found.closure_digest
    const files = yield* readRows<SourceFile>(SOURCES, { workspaceId, closureDigest })
    return { closureDigest, files: files.map((file) => ({ ...file, text: JSON.parse(file.text) as string })) }
  },
}

/** Keeps the files of a publication, unless the same closure was published with files before. */
export function* keepSources({ workspaceId, agents, documents, written }: VersionPublication): DatabaseWork<void> {
  if (!written || written.files.length === 0) return
  const { closureDigest, files } = written
  if (!(yield* readRow(IS_KEPT, { workspaceId, closureDigest })))
    for (const { path, text } of files) {
      const digest = digestOf(text)
      // As JSON, which keeps every character: the digest is that of the file.
      yield* writeRows(TEXT, { digest, text: JSON.stringify(text) })
      yield* writeRows(FILE, { workspaceId, closureDigest, path, digest })
    }
  const members: readonly PublishedName[] = [
    ...agents.map(({ snapshot: { id, version } }) => ({ kind: 'Agent' as const, id, version })),
    ...documents,
  ]
  for (const { kind, id, version } of members)
    yield* writeRows(MEMBER, { workspaceId, kind, id, version, closureDigest })
}
