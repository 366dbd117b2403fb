/** Files that documents name: read once, remembered for the lock. */
import { digestOf } from '../base/digest.ts'
import { resolveBeside } from '../documents/resolve-beside.ts'
import { whyNowhere } from './refuse.ts'
import { report, type FileMember, type Spot, type Work } from './work.ts'

/**
 * Path and text of a file; undefined where there is none, which is reported under `rule`.
 * @param beside path of the file in which the reference stands, whose directory is tried first
 */
export function readFileMember(
  work: Work,
  kind: FileMember['kind'],
  rule: `${string}/${string}`,
  ref: string,
  at: Spot,
  version?: string | number,
  beside?: string,
): { readonly path: string; readonly text: string } | undefined {
  const resolution = resolveBeside(work.workspace, at.document, beside, ref, version)
  if (!('path' in resolution))
    return report(
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
