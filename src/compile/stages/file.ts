/** Reads the files that documents name, once, and records them for the lock. */
import { digestOf } from '../../base/digest.ts'
import { withUnixLineEnds } from '../../documents/text/line-ends.ts'
import { resolveBeside } from '../../documents/workspace/resolve-beside.ts'
import { explainUnresolvedPath } from '../state/unresolved-path.ts'
import { reportFinding, type FileMember, type DocumentPlace, type CompileState } from '../state/state.ts'

/**
 * Path and text of a file; undefined if it is missing, which is reported under `rule`.
 * @param beside path of the file that contains the reference; its directory is tried first
 */
export function readFileMember(
  state: CompileState,
  kind: FileMember['kind'],
  rule: `${string}/${string}`,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
  beside?: string,
): { readonly path: string; readonly text: string } | undefined {
  const resolution = resolveBeside(state.workspace, at.document, beside, ref, version)
  if (!('path' in resolution))
    return reportFinding(
      state,
      resolution.problem === 'ambiguous' && kind === 'instructions' ? 'agent/instructions-version-ambiguous' : rule,
      at,
      explainUnresolvedPath(ref, resolution),
    )
  const { path } = resolution
  const bytes = withUnixLineEnds(state.workspace.bytes(path))
  state.files.set(path, {
    kind,
    path,
    integrity: digestOf(bytes),
    ...(version !== undefined && { version: String(version) }),
  })
  return { path, text: new TextDecoder().decode(bytes) }
}
