/** What the files of a bundle may be: names, number and size. Source: bundles, section 2. */
import { fail } from '../base/failure.ts'
import { checkPath } from '../documents/paths.ts'
import { MAX_FILE_BYTES } from '../documents/yaml.ts'

export const MAX_BUNDLE_BYTES = 32 * 1024 * 1024
export const MAX_FILES = 2000

/** Bytes by path, relative and `/` separated. */
export type Contents = ReadonlyMap<string, Uint8Array>

/** @throws Failure `bundle_invalid` that names what is wrong, or the limit that is exceeded */
export function checkContents(files: readonly (readonly [path: string, size: number])[]): void {
  if (files.length > MAX_FILES)
    throw fail('bundle_invalid', { what: `A bundle has at most ${MAX_FILES} files; this one has ${files.length}.` })
  const folded = new Map<string, string>()
  let total = 0
  for (const [path, size] of files) {
    const checked = checkPath(path)
    if ('problem' in checked)
      throw fail('bundle_invalid', { what: `"${path}" is no path of a bundle: ${checked.problem}.` })
    if (checked.path !== path) throw fail('bundle_invalid', { what: `"${path}" is not written as ${checked.path}.` })
    const other = folded.get(path.toLowerCase())
    if (other !== undefined)
      throw fail('bundle_invalid', {
        what: other === path ? `"${path}" is there twice.` : `"${other}" and "${path}" differ by case only.`,
      })
    folded.set(path.toLowerCase(), path)
    if (size > MAX_FILE_BYTES)
      throw fail('bundle_invalid', { what: `${path} has ${size} bytes; a file has at most ${MAX_FILE_BYTES}.` })
    total += size
  }
  if (total > MAX_BUNDLE_BYTES)
    throw fail('bundle_invalid', { what: `The bundle has ${total} bytes; at most ${MAX_BUNDLE_BYTES} are allowed.` })
}
