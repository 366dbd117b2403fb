/** Files that documents name: read once, remembered for the lock. */
import { digestOf } from '../base/digest.ts'
import { directoryOf, isUnder, joinPath } from '../documents/paths.ts'
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
  const near =
    beside === undefined ? undefined : work.workspace.resolve(at.document, besideOf(work, beside, ref, at), version)
  const resolution = near && 'path' in near ? near : work.workspace.resolve(at.document, ref, version)
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

/** The reference as a path from the bundle's directory. */
function besideOf(work: Work, file: string, ref: string, at: Spot): string {
  const bundle = work.workspace.bundleDirectory(at.document)
  return joinPath(
    directoryOf(isUnder(bundle, file) && bundle !== '' ? file.slice(bundle.length + 1) : file),
    ref.replace(/^\.\//, ''),
  )
}
