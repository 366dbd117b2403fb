/** Which files of a bundle changed. The other differences report what this means for the agent. */
import { digestOf, type Digest } from '../../base/digest.ts'
import type { BundleContents } from '../package/contents.ts'
import { kindOfChange } from '../../authority/change.ts'

export interface FileChange {
  /** Relative to the bundle. */
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
  /** Null if there was no such file. */
  readonly from: Digest | null
  readonly to: Digest | null
}

/** In the order of their paths. */
export function diffFiles(before: BundleContents, after: BundleContents): readonly FileChange[] {
  const digestIn = (files: BundleContents, path: string): Digest | null => {
    const bytes = files.get(path)
    return bytes ? digestOf(bytes) : null
  }
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): FileChange[] => {
    const [from, to] = [digestIn(before, path), digestIn(after, path)]
    if (from === to) return []
    return [{ path, change: kindOfChange(from, to), from, to }]
  })
}
