/** The documents and files of one directory, and how references between them are resolved. */
import { fail } from '../../base/failure.ts'
import type { DocumentKind } from '../../spec/document.ts'
import { maskCredentials } from '../text/credentials.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { isIdentified, type Document, type IdentifiedDocument } from '../text/document.ts'
import type { ProjectFiles } from '../text/files.ts'
import { groupBy, getOrInsert } from '../../base/values/collections.ts'
import { directoryOf } from '../text/paths.ts'
import { memoizeByText } from '../text/memoize-by-text.ts'
import { createSource, type SourceText } from '../text/source.ts'
import { resolvePath, type PathResolution } from './resolve-path.ts'

export interface Workspace extends BundleDirectories {
  /** Absolute path of the directory; empty for a workspace in memory. */
  readonly root: string
  readonly files: ProjectFiles
  /** In order of their paths, then of their place in the file. */
  readonly documents: readonly Document[]
  /** Faults in the form of the files; `lint` reports these too. */
  readonly findings: readonly Diagnostic[]
  /** Paths whose findings are reported; absent = all. */
  readonly focus?: readonly string[]
  /** Document files that were read, good or bad. */
  readonly read: readonly string[]
  /** Documents that are published together with this one: those under its bundle's directory, or all where no Bundle stands above it. */
  publishedTogether(document: Document): readonly Document[]
  /** Documents of a kind with a logical id `namespace.name`: those of the same bundle, or where it has none, of the workspace. */
  find(from: Pick<Document, 'path'>, kind: DocumentKind, id: string): readonly IdentifiedDocument[]
  /** Logical ids of all documents of a kind, in the order of the documents: the candidates for a suggestion. */
  ids(kind: DocumentKind): readonly string[]
  /** Resolves a path that a document names. Source: docs/design/bundles-and-authority.md#references */
  resolve(from: Document, written: string, version?: string | number): PathResolution
  /** Documents in a file. */
  documentsAt(path: string): readonly Document[]
  /**
   * Bytes of a file by its path in the workspace, as `resolve` gives it.
   * @throws Failure `not_found`, `file_unreadable`
   */
  bytes(path: string): Uint8Array
  /** Text of a file; throws as `bytes` does. */
  text(path: string): string
  /** The text with its lines, as findings show it; empty where there is no such file. */
  source(path: string): SourceText
  /** A line of a file with credentials masked, from 1, without its line break; empty beyond the end. */
  line(path: string, number: number): string
}

type WorkspaceParts = Pick<Workspace, 'root' | 'files' | 'documents' | 'findings' | 'focus' | 'read'>

export function createWorkspace(parts: WorkspaceParts): Workspace {
  const { files, documents } = parts
  const { bundleOf, bundleDirectory } = findBundleDirectories(documents)
  const groups = groupBy(documents, bundleOf)
  const byPath = groupBy(documents, ({ path }) => path)
  const named = groupBy(documents.filter(isIdentified), ({ kind }) => kind)
  const byId = new Map([...named].map(([kind, of]) => [kind, groupBy(of, ({ identity }) => identity.id)]))

  const bytes = (path: string): Uint8Array => {
    const found = files.read(path)
    if (found !== undefined) return found
    const why = files.refusal?.(path)
    throw why === undefined ? fail('not_found', { what: `file ${path}` }) : fail('file_unreadable', { path, why })
  }
  const resolutions = new Map<Document, (written: string) => PathResolution>()
  const resolve = (from: Document, written: string, version?: string | number): PathResolution => {
    const directories = [bundleDirectory(from), directoryOf(from.path)] as const
    if (version !== undefined) return resolvePath(files, directories, written, version)
    const known = getOrInsert(resolutions, from, () => memoizeByText((path) => resolvePath(files, directories, path)))
    return known(written)
  }

  let lastSource = createSource('', '')
  const source = (path: string): SourceText => {
    const found = byPath.get(path)?.[0]?.source ?? (lastSource.path === path ? lastSource : undefined)
    // Decoded without the byte order mark, like the documents, so that offsets agree.
    lastSource = found ?? createSource(path, new TextDecoder().decode(files.read(path)))
    return lastSource
  }
  return {
    ...parts,
    bundleDirectory,
    bundleOf,
    publishedTogether: (document) => groups.get(bundleOf(document)) ?? NONE,
    find(from, kind, id) {
      const all = byId.get(kind)?.get(id) ?? NONE
      if (all.length < 2) return all
      const bundle = bundleOf(from)
      const near = all.filter((each) => bundleOf(each) === bundle)
      return near.length > 0 ? near : all
    },
    ids: (kind) => documents.flatMap((each) => (each.kind === kind ? (each.identity?.id ?? []) : [])),
    resolve,
    documentsAt: (path) => byPath.get(path) ?? NONE,
    bytes,
    text: (path) => new TextDecoder().decode(bytes(path)),
    source,
    line: (path, number) => maskCredentials(source(path).line(number)),
  }
}

const NONE: readonly IdentifiedDocument[] = []

interface BundleDirectories {
  /** Directory of the nearest Bundle document above a file, which may be the file itself; undefined where there is none. */
  readonly bundleOf: (file: Pick<Document, 'path'>) => string | undefined
  /**
   * The directory of the bundle to which a document belongs: that of the nearest Bundle document above it, else its own.
   * Empty for the workspace's root.
   */
  readonly bundleDirectory: (document: Document) => string
}

function findBundleDirectories(documents: readonly Document[]): BundleDirectories {
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
