/** Limits on the files of a bundle: names, number and size. Source: docs/design/bundles-and-authority.md#paths-and-files */
import { fail } from '../../base/failure.ts'
import { checkPath, foldPath } from '../../documents/text/paths.ts'
import { MAX_FILE_BYTES } from '../../documents/text/yaml.ts'

export const MAX_BUNDLE_BYTES = 32 * 1024 * 1024
export const MAX_FILES = 2000

/** Bytes by path, relative and `/` separated. */
export type BundleContents = ReadonlyMap<string, Uint8Array>

/** A fault that no bundle may have, with the lint rule that reports it. */
export interface ContentsFault {
  readonly rule: `${string}/${string}`
  readonly what: string
  readonly fix?: string
}

/** The first fault of a list of files: an invalid name, or an exceeded limit. */
export function findContentsFault(
  files: readonly (readonly [path: string, size: number])[],
): ContentsFault | undefined {
  const over = (what: string): ContentsFault => ({ rule: 'doc/too-large', what })
  if (files.length > MAX_FILES) return over(`A bundle has at most ${MAX_FILES} files; this one has ${files.length}.`)
  const folded = new Map<string, string>()
  let total = 0
  for (const [path, size] of files) {
    const checked = checkPath(path)
    if ('problem' in checked)
      return { rule: 'bundle/path-escape', what: `"${path}" is not a valid path in a bundle: ${checked.problem}.` }
    if (checked.path !== path)
      return { rule: 'bundle/path-escape', what: `"${path}" must be written as ${checked.path}.` }
    const fold = foldPath(path)
    const other = folded.get(fold)
    if (other !== undefined)
      return {
        rule: 'bundle/case-collision',
        what: other === path ? `"${path}" is there twice.` : `"${other}" and "${path}" differ by case only.`,
      }
    folded.set(fold, path)
    if (size > MAX_FILE_BYTES) return over(`${path} has ${size} bytes; a file has at most ${MAX_FILE_BYTES}.`)
    total += size
  }
  return total > MAX_BUNDLE_BYTES
    ? over(`The bundle has ${total} bytes; at most ${MAX_BUNDLE_BYTES} are allowed.`)
    : undefined
}

/** @throws Failure `bundle_invalid` */
export function refuseFault(fault: ContentsFault | undefined): void {
  if (fault) throw fail('bundle_invalid', { what: fault.what }, fault.fix === undefined ? {} : { fix: fault.fix })
}
