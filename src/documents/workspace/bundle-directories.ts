/** The bundles of a workspace: the directories that hold a Bundle document. */
import type { Document } from '../text/document.ts'
import { directoryOf } from '../text/paths.ts'

export interface BundleDirectories {
  /** Directory of the nearest Bundle document above a file, which may be the file itself; undefined where there is none. */
  readonly bundleOf: (file: Pick<Document, 'path'>) => string | undefined
  /**
   * The directory of the bundle to which a document belongs: that of the nearest Bundle document above it, else its own.
   * Empty for the workspace's root.
   */
  readonly bundleDirectory: (document: Document) => string
}

export function findBundleDirectories(documents: readonly Document[]): BundleDirectories {
  const bundles = new Set(documents.filter(({ kind }) => kind === 'Bundle').map(({ path }) => directoryOf(path)))
  const known = new Map<string, string | undefined>([['', bundles.has('') ? '' : undefined]])
  const nearestAbove = (directory: string): string | undefined => {
    if (bundles.has(directory)) return directory
    if (!known.has(directory)) known.set(directory, nearestAbove(directoryOf(directory)))
    return known.get(directory)
  }
  const bundleOf = ({ path }: Pick<Document, 'path'>): string | undefined => nearestAbove(directoryOf(path))
  return { bundleOf, bundleDirectory: (document) => bundleOf(document) ?? directoryOf(document.path) }
}
