/** The documents and files of one directory, and how references between them are resolved. */
import { fail } from '../base/failure.ts'
import type { Kind } from '../spec/document.ts'
import { veiled } from './credentials.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Document } from './document.ts'
import type { Files } from './files.ts'
import { groupBy } from './group.ts'
import { checkPath, directoryOf, extensionOf, joinPath, pathsUnder } from './paths.ts'
import { remembering } from './remember.ts'
import { createSource, type Source } from './source.ts'
import { nearest } from './suggest.ts'

export interface Workspace {
  /** Absolute path of the directory; empty for a workspace in memory. */
  readonly root: string
  readonly files: Files
  /** In order of their paths, then of their place in the file. */
  readonly documents: readonly Document[]
  /** What is wrong with the form of the files; `lint` lists these too. */
  readonly findings: readonly Diagnostic[]
  /** Paths of which findings were asked for; absent = all. */
  readonly focus?: readonly string[]
  /** Document files that were read, good or bad. */
  readonly read: readonly string[]
  /**
   * The directory of the bundle to which a document belongs: that of the nearest Bundle document above it, else its own.
   * Empty for the workspace's root.
   */
  bundleDirectory(document: Document): string
  /** Directory of the nearest Bundle document above a file, or that it is; undefined where there is none. */
  bundleOf(file: Pick<Document, 'path'>): string | undefined
  /** Documents that are published together with this one: those under its bundle's directory, or all where no Bundle stands above it. */
  neighbours(document: Document): readonly Document[]
  /** Those of them that are at hand: for who has said with `asks` which others would count. */
  nearby(document: Document): readonly Document[]
  /** Says that an answer depends on every neighbour of this document that is about a topic. */
  asks(document: Document, topic: string): void
  /** Documents of a kind with a logical id `namespace.name`: those of the same bundle, or where it has none, of the workspace. */
  find(from: Document, kind: Kind, id: string): readonly Document[]
  /** Logical ids of all documents of a kind, in the order of the documents: to tell which is near. */
  ids(kind: Kind): readonly string[]
  /** Resolves a path that a document names. Source: bundles, section 1. */
  resolve(from: Document, written: string, version?: string | number): Resolution
  /** Documents in a file. */
  documentsAt(path: string): readonly Document[]
  /**
   * Bytes of a file by its path in the workspace, as `resolve` gives it.
   * @throws Failure `not_found`, `file_unreadable`
   */
  bytes(path: string): Uint8Array
  /** The same as text. */
  text(path: string): string
  /** What functions have said of this workspace, by the number of the function (`once.ts`). */
  readonly worked: unknown[]
  /** The text with its lines, as findings show it; empty where there is no such file. */
  source(path: string): Source
  /** One of its lines as a report may show it, from 1, without its line break; empty beyond the end. */
  line(path: string, number: number): string
}

/** Where a reference leads: a path in the workspace, or why nowhere. */
export type Resolution =
  | { readonly path: string }
  | { readonly problem: 'bad-path'; readonly says: string }
  | { readonly problem: 'link'; readonly link: string }
  | { readonly problem: 'missing'; readonly near?: string }
  | { readonly problem: 'ambiguous'; readonly candidates: readonly string[] }

/** Extensions that may be left out, in the order in which they are tried. */
const EXTENSIONS = ['.yaml', '.yml', '.json', '.md', '.txt']

export interface WorkspaceParts {
  readonly root: string
  readonly files: Files
  readonly documents: readonly Document[]
  readonly findings: readonly Diagnostic[]
  readonly read: readonly string[]
  readonly focus?: readonly string[]
  /** Absent = the documents are all there are. */
  readonly rest?: Rest
}

/** What is known of the documents that are not at hand, where a workspace is a part of one (`part.ts`). */
export interface Rest {
  /** Directories of all Bundle documents. */
  readonly bundles: ReadonlySet<string>
  /** Logical ids of all documents by kind; absent while they are not known. */
  readonly ids?: Readonly<Record<Kind, readonly string[]>>
  /** True where documents of no bundle are in this part and in the rest. */
  readonly isSplit: boolean
  /** True for a file of the rest that may hold documents. */
  mayHold(path: string): boolean
  /** Told when an answer depends on documents of the rest that are about a topic. */
  ask(topic: string): void
}

export function createWorkspace(parts: WorkspaceParts): Workspace {
  const { root, files, documents, findings, read, focus, rest } = parts
  const bundles =
    rest?.bundles ?? new Set(documents.filter(({ kind }) => kind === 'Bundle').map(({ path }) => directoryOf(path)))
  const above = new Map<string, string | undefined>([['', bundles.has('') ? '' : undefined]])
  const bundleOver = (directory: string): string | undefined => {
    if (bundles.has(directory)) return directory
    if (!above.has(directory)) above.set(directory, bundleOver(directoryOf(directory)))
    return above.get(directory)
  }
  const bundleByPath = new Map<string, string | undefined>()
  const bundleOf = ({ path }: Pick<Document, 'path'>): string | undefined => {
    const known = bundleByPath.get(path)
    if (known !== undefined || bundleByPath.has(path)) return known
    const bundle = bundleOver(directoryOf(path))
    bundleByPath.set(path, bundle)
    return bundle
  }
  const bundleDirectory = (document: Document): string => bundleOf(document) ?? directoryOf(document.path)
  const groups = groupBy(documents, bundleOf)
  const nearby = (document: Document): readonly Document[] => groups.get(bundleOf(document)) ?? []
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
  const resolutions = new Map<Document, (written: string) => Resolution>()
  const resolve = (from: Document, written: string, version?: string | number): Resolution => {
    if (version !== undefined) return resolveAfresh(from, written, version)
    const known = resolutions.get(from) ?? remembering((path) => resolveAfresh(from, path))
    resolutions.set(from, known)
    return known(written)
  }
  const resolveAfresh = (from: Document, written: string, version?: string | number): Resolution => {
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
    const near = nearest(
      checked.path,
      pathsUnder(files.paths, directory!).map((path) => (directory === '' ? path : path.slice(directory!.length + 1))),
    )
    return { problem: 'missing', ...(near !== undefined && { near }) }
  }

  let shown = createSource('', '')
  const source = (path: string): Source => {
    const found = byPath.get(path)?.[0]?.source ?? (shown.path === path ? shown : undefined)
    // A byte order mark is left out here as in the documents, so that the places of findings fit.
    shown = found ?? createSource(path, new TextDecoder().decode(files.read(path)))
    return shown
  }
  return {
    root,
    files,
    documents,
    findings,
    read,
    worked: [],
    bundleDirectory,
    bundleOf,
    neighbours(document) {
      if (rest?.isSplit && bundleOf(document) === undefined) rest.ask(topics.loose)
      return nearby(document)
    },
    nearby,
    asks(document, topic) {
      if (rest?.isSplit && bundleOf(document) === undefined) rest.ask(topics.among(topic))
    },
    find(from, kind, id) {
      const all = byId.get(kind)?.get(id) ?? NONE
      if (rest === undefined && all.length < 2) return all
      const bundle = bundleOf(from)
      const isNear = (each: Document): boolean => bundleOf(each) === bundle
      const near = all.length === 0 || (all.length === 1 && isNear(all[0]!)) ? all : all.filter(isNear)
      if (rest !== undefined && (rest.isSplit || near.length === 0)) rest.ask(topics.id(kind, id))
      return near.length > 0 ? near : all
    },
    ids(kind) {
      if (rest?.ids !== undefined) return rest.ids[kind]
      rest?.ask(topics.ids)
      return documents.flatMap((each) => (each.kind === kind ? (each.identity?.id ?? []) : []))
    },
    resolve,
    documentsAt(path) {
      const found = byPath.get(path)
      if (found === undefined && rest?.mayHold(path)) rest.ask(topics.path(path))
      return found ?? []
    },
    bytes,
    text: (path) => new TextDecoder().decode(bytes(path)),
    source,
    line: (path, number) => veiled(source(path).line(number)),
    // Last: an object that begins with what may be missing is slow to read, and every rule reads this one.
    ...(focus && { focus }),
  }
}

const NONE: readonly Document[] = []

/** What documents of different parts meet in. */
export const topics = {
  /** All documents of no bundle: a bundle is always in one part. */
  loose: 'loose',
  /** Something of which some of these speak. */
  among: (topic: string): string => `loose ${topic}`,
  id: (kind: Kind, id: string): string => `id ${kind} ${id}`,
  path: (path: string): string => `path ${path}`,
  /** The ids of all. */
  ids: 'ids',
}

/** Paths that a reference may mean. More than one that exists is a fault of the bundle. */
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
