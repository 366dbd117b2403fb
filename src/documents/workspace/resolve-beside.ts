/** Resolves paths in referenced files: a schema may reference another. Source: docs/design/bundles-and-authority.md#references */
import type { Document } from '../text/document.ts'
import { directoryOf, isUnder, joinPath } from '../text/paths.ts'
import type { PathResolution } from './resolve-path.ts'
import type { Workspace } from './workspace.ts'

/** @param beside path of the file that contains the reference, whose directory is tried first; undefined for the document's own */
export function resolveBeside(
  workspace: Workspace,
  document: Document,
  beside: string | undefined,
  written: string,
  version?: string | number,
): PathResolution {
  const near =
    beside === undefined ? undefined : workspace.resolve(document, besideOf(workspace, document, beside, written))
  return near && 'path' in near ? near : workspace.resolve(document, written, version)
}

/** The reference as a path from the bundle's directory. */
function besideOf(workspace: Workspace, document: Document, file: string, written: string): string {
  const bundle = workspace.bundleDirectory(document)
  return joinPath(
    directoryOf(isUnder(bundle, file) && bundle !== '' ? file.slice(bundle.length + 1) : file),
    written.replace(/^\.\//, ''),
  )
}
