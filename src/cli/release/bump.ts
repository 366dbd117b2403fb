/** Raises `metadata.version` in the text of documents and keeps everything else. */
import { inc } from 'semver'
import type { Document } from '../../documents/text/document.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export type ReleaseStep = 'patch' | 'minor' | 'major'

const POINTER = '/metadata/version'

/** New texts by path, for the documents that are raised. @throws Failure `usage` for a version that cannot be raised */
export function bumpVersions(
  workspace: Workspace,
  documents: readonly Document[],
  release: ReleaseStep,
): Readonly<Record<string, string>> {
  const paths = [...new Set(documents.map(({ path }) => path))]
  return Object.fromEntries(
    paths.map((path) => [
      path,
      raise(
        workspace.source(path).text,
        documents.filter((each) => each.path === path),
        release,
      ),
    ]),
  )
}

function raise(text: string, documents: readonly Document[], release: ReleaseStep): string {
  const edits = documents.flatMap((document) => {
    const span = document.spanOf(POINTER)
    const version = document.identity?.version
    if (!span || version === undefined) return []
    const next = inc(version, release)
    if (next === null) throw usageFailure(`${document.path} has the version ${version}, which cannot be raised.`)
    // The value's own span, so quotes around it stay.
    const written = text.slice(span.start.offset, span.end.offset)
    return [{ start: span.start.offset, end: span.end.offset, text: written.replace(version, next) }]
  })
  // From the end, so that earlier offsets stay valid.
  return edits
    .sort((a, b) => b.start - a.start)
    .reduce((changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end), text)
}
