/**
 * The files of a bundle as they were written, for people who read a published version later.
 * Source: docs/design/bundles-and-authority.md#snapshots
 */
import { withUnixLineEnds } from '../../documents/text/line-ends.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { LockFile } from '../state/lock-file.ts'

export interface WrittenFile {
  /** In the workspace, as findings and compiled policies name it. */
  readonly path: string
  readonly text: string
}

/**
 * Every document and every file that a bundle was compiled from, in the order of paths; the registry already has the files
 * of its own members.
 * @param compiled what else of the compilation is known: its document and its lock
 */
export function writtenFilesOf(
  workspace: Workspace,
  bundle: CompiledBundle,
  compiled: { readonly document?: string; readonly lock?: Pick<LockFile, 'members'> } = {},
): readonly WrittenFile[] {
  const members = new Set([
    ...bundle.agents.map(({ id }) => `Agent ${id}`),
    ...bundle.documents.map(({ kind, id }) => `${kind} ${id}`),
  ])
  const policies = bundle.agents.flatMap(({ policies: { entries } }) => entries)
  const paths = new Set([
    ...(compiled.document === undefined ? [] : [compiled.document]),
    ...(compiled.lock?.members.flatMap(({ path }) => path ?? []) ?? []),
    ...policies.flatMap(({ origin }) => origin.flatMap(({ path }) => path ?? [])),
    ...workspace.documents
      .filter(({ kind, identity }) => members.has(`${kind} ${identity?.id}`))
      .map(({ path }) => path),
  ])
  const known = new Set(workspace.files.paths)
  return [...paths]
    .filter((path) => known.has(path))
    .sort()
    .flatMap((path) => {
      const text = decode(withUnixLineEnds(workspace.bytes(path)))
      return text === undefined ? [] : [{ path, text }]
    })
}

/** Undefined for a file that is no text. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
