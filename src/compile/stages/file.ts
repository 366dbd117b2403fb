/** Files that documents name: read once, remembered for the lock. */
import { digestOf } from '../../base/digest.ts'
import { resolveBeside } from '../../documents/workspace/resolve-beside.ts'
import { whyNowhere } from '../state/refuse.ts'
import { reportFinding, type FileMember, type DocumentPlace, type CompileState } from '../state/state.ts'

/**
 * Path and text of a file; undefined where there is none, which is reported under `rule`.
 * @param beside path of the file in which the reference stands, whose directory is tried first
 */
export function readFileMember(
  work: CompileState,
  kind: FileMember['kind'],
  rule: `${string}/${string}`,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
  beside?: string,
): { readonly path: string; readonly text: string } | undefined {
  const resolution = resolveBeside(work.workspace, at.document, beside, ref, version)
  if (!('path' in resolution))
    return reportFinding(
      work,
      resolution.problem === 'ambiguous' && kind === 'instructions' ? 'agent/instructions-version-ambiguous' : rule,
      at,
      whyNowhere(ref, resolution),
    )
  const { path } = resolution
  work.files.set(path, {
    kind,
    path,
    integrity: digestOf(work.workspace.bytes(path)),
    ...(version !== undefined && { version: String(version) }),
  })
  return { path, text: work.workspace.text(path) }
}
