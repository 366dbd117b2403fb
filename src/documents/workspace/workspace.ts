/** The documents and files of one directory, and how references between them are resolved. */
import { fail } from '../../base/failure.ts'
import type { DocumentKind } from '../../spec/document.ts'
import { maskCredentials } from '../text/credentials.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import type { ProjectFiles } from '../text/files.ts'
import { groupBy } from '../text/group.ts'
import { checkPath, directoryOf, extensionOf, joinPath, pathsUnder } from '../text/paths.ts'
import { memoizeByText } from '../text/memoize-by-text.ts'
import { createSource, type SourceText } from '../text/source.ts'
import { nearestCandidate } from '../text/suggest.ts'

export interface Workspace {
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
  /**
   * The directory of the bundle to which a document belongs: that of the nearest Bundle document above it, else its own.
   * Empty for the workspace's root.
   */
  bundleDirectory(document: Document): string
  /** Directory of the nearest Bundle document above a file, which may be the file itself; undefined where there is none. */
  bundleOf(file: Pick<Document, 'path'>): string | undefined
  /** Documents that are published together with this one: those under its bundle's directory, or all where no Bundle stands above it. */
  publishedTogether(document: Document): readonly Document[]
  /** Documents of a kind with a logical id `namespace.name`: those of the same bundle, or where it has none, of the workspace. */
  find(from: Pick<Document, 'path'>, kind: DocumentKind, id: string): readonly Document[]
  /** Logical ids of all documents of a kind, in the order of the documents: the candidates for a suggestion. */
  ids(kind: DocumentKind): readonly string[]
  /** Resolves a path that a document names. Source: bundles, section 1. */
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

/** The path in the workspace to which a reference leads, or why it leads nowhere. */
export type PathResolution =
  | { readonly path: string }
  | { readonly problem: 'bad-path'; readonly says: string }
  | { readonly problem: 'link'; readonly link: string }
  | { readonly problem: 'missing'; readonly near?: string }
  | { readonly problem: 'ambiguous'; readonly candidates: readonly string[] }

/** Extensions that may be left out, in the order in which they are tried. */
const EXTENSIONS = ['.yaml', '.yml', '.json', '.md', '.txt']

export interface WorkspaceParts {
  readonly root: string
  readonly files: ProjectFiles
  readonly documents: readonly Document[]
  readonly findings: readonly Diagnostic[]
  readonly read: readonly string[]
  readonly focus?: readonly string[]
}

export function createWorkspace(parts: WorkspaceParts): Workspace {
  const { root, files, documents, findings, read, focus } = parts
  const bundles = new Set(documents.filter(({ kind }) => kind === 'Bundle').map(({ path }) => directoryOf(path)))
  const bundleByDirectory = new Map<string, string | undefined>([['', bundles.has('') ? '' : undefined]])
  const findBundleAbove = (directory: string): string | undefined => {
    if (bundles.has(directory)) return directory
    if (!bundleByDirectory.has(directory)) bundleByDirectory.set(directory, findBundleAbove(directoryOf(directory)))
    return bundleByDirectory.get(directory)
  }
  const bundleByPath = new Map<string, string | undefined>()
  const bundleOf = ({ path }: Pick<Document, 'path'>): string | undefined => {
    const known = bundleByPath.get(path)
    if (known !== undefined || bundleByPath.has(path)) return known
    const bundle = findBundleAbove(directoryOf(path))
    bundleByPath.set(path, bundle)
    return bundle
  }
  const bundleDirectory = (document: Document): string => bundleOf(document) ?? directoryOf(document.path)
  const groups = groupBy(documents, bundleOf)
  const byPath = groupBy(documents, ({ path }) => path)
  const named = groupBy(
    documents.filter(({ identity }) => identity !== undefined),
    ({ kind }) => kind,
  )
  const byId = new Map([...named].map(([kind, of]) => [kind, groupBy(of, ({ identity }) => identity!.id)]))

  const bytes = (path: string): Uint8Array => {
    const found = files.read(path)
    if (found !== undefined) return found
    const why = files.refusal?.(path)
    throw why === undefined ? fail('not_found', { what: `file ${path}` }) : fail('file_unreadable', { path, why })
  }
  const resolutions = new Map<Document, (written: string) => PathResolution>()
  const resolve = (from: Document, written: string, version?: string | number): PathResolution => {
    if (version !== undefined) return resolveUncached(from, written, version)
    const known = resolutions.get(from) ?? memoizeByText((path) => resolveUncached(from, path))
    resolutions.set(from, known)
    return known(written)
  }
  const resolveUncached = (from: Document, written: string, version?: string | number): PathResolution => {
    const checked = checkPath(written)
    if ('problem' in checked) return { problem: 'bad-path', says: checked.problem }
    const directories = [...new Set([bundleDirectory(from), directoryOf(from.path)])]
    for (const directory of directories) {
      const candidates = candidatesOf(joinPath(directory, checked.path), version)
      const link = files.links.find((each) =>
        candidates.some((candidate) => candidate === each || candidate.startsWith(`${each}/`)),
      )
      if (link !== undefined) return { problem: 'link', link }
      const there = candidates.filter((candidate) => files.has(candidate))
      if (there.length > 1) return { problem: 'ambiguous', candidates: there }
      if (there.length === 1) return { path: there[0]! }
    }
    const [directory] = directories
    const near = nearestCandidate(
      checked.path,
      pathsUnder(files.paths, directory!).map((path) => (directory === '' ? path : path.slice(directory!.length + 1))),
    )
    return { problem: 'missing', ...(near !== undefined && { near }) }
  }

  let lastSource = createSource('', '')
  const source = (path: string): SourceText => {
    const found = byPath.get(path)?.[0]?.source ?? (lastSource.path === path ? lastSource : undefined)
    // Decoded without the byte order mark, like the documents, so that offsets agree.
    lastSource = found ?? createSource(path, new TextDecoder().decode(files.read(path)))
    return lastSource
  }
  return {
    root,
    files,
    documents,
    findings,
    read,
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
    ...(focus && { focus }),
  }
}

const NONE: readonly Document[] = []

/** Paths that a reference may mean. If more than one exists, the reference is ambiguous. */
function candidatesOf(path: string, version: string | number | undefined): string[] {
  const extension = extensionOf(path)
  const known = EXTENSIONS.includes(extension)
  const stem = known ? path.slice(0, -extension.length) : path
  const extensions = known ? [extension] : EXTENSIONS
  const candidates = [path, ...(known ? [] : EXTENSIONS.map((each) => path + each))]
  if (version !== undefined)
    for (const each of extensions) candidates.push(`${stem}-${version}${each}`, `${stem}/${version}${each}`)
  return candidates
}
