/** Where files come from: a directory, or memory. Source: docs/design/bundles-and-authority.md#paths-and-files */
import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  type Dirent,
} from 'node:fs'
import { join } from 'node:path'
import { parseIgnore } from './ignore.ts'

export interface ProjectFiles {
  /** Absolute path of the directory, without links; absent in memory. */
  readonly root?: string
  /** Regular files, relative, `/` separated, sorted by code unit. */
  readonly paths: readonly string[]
  /** Symbolic links found; none is followed. */
  readonly links: readonly string[]
  has(path: string): boolean
  /**
   * Bytes, or undefined if there is no such regular file or the user may not read it. Each file is read once, so that the hashed
   * and the parsed bytes are the same.
   */
  read(path: string): Uint8Array | undefined
  /** Reads a file of at most `maxBytes` bytes; a larger one is not read. */
  readUpTo(path: string, maxBytes: number): Uint8Array | 'larger' | undefined
  /** Why an existing file could not be read. */
  refusal?(path: string): string | undefined
  /** The first 4 KiB of a file, for one that is too large to be read. */
  head(path: string): Uint8Array
  /** Size in bytes; 0 where there is no such file. */
  size(path: string): number
}

/** Directories that hold no documents, besides those that begin with a dot. */
const SKIPPED = new Set(['node_modules'])

/** Name of the file with patterns of ignored paths. */
export const IGNORE_FILE = '.svcignore'

/** Contents by path. */
export type FileContents = Readonly<Record<string, string | Uint8Array>>

/** The files of a directory. Files of `overlay` replace those on the disk or are added to them. */
export function directoryFiles(directory: string, overlay: FileContents = {}): ProjectFiles {
  const root = realpathSync(directory)
  const { paths, links } = list(root)
  const listed = new Set(paths)
  const added = Object.keys(overlay).filter((path) => !listed.has(path))
  const contents = new Map(Object.entries(overlay).map(([path, content]) => [path, bytesOf(content)]))
  const refusals = new Map<string, string>()
  const open = <T>(path: string, read: (file: string) => T): T | undefined => {
    const { value, refusal } = attempt(() => read(`${root}/${path}`))
    if (refusal !== undefined) refusals.set(path, refusal)
    return value
  }
  const readUpTo = (path: string, most: number): Uint8Array | 'larger' | undefined => {
    const known = contents.get(path)
    if (known !== undefined) return known.length > most ? 'larger' : known
    const bytes = listed.has(path) ? open(path, (file) => bytesUpTo(file, most)) : undefined
    if (bytes !== undefined && bytes !== 'larger') contents.set(path, bytes)
    return bytes
  }
  return {
    root,
    paths: added.length === 0 ? paths : [...paths, ...added].sort(),
    links,
    has: (path) => listed.has(path) || Object.hasOwn(overlay, path),
    read: (path) => whole(readUpTo(path, Infinity)),
    readUpTo,
    size(path) {
      if (contents.has(path) || !listed.has(path)) return contents.get(path)?.length ?? 0
      return lstatSync(`${root}/${path}`, { throwIfNoEntry: false })?.size ?? 0
    },
    refusal: (path) => refusals.get(path),
    head: (path) => open(path, firstOf) ?? new Uint8Array(),
  }
}

/** Bytes of files that were read without a limit. */
const whole = (bytes: Uint8Array | 'larger' | undefined): Uint8Array | undefined =>
  bytes === 'larger' ? undefined : bytes

/** Limit in bytes for files without a size, such as those in `/proc`. */
const UNSIZED_BYTES = 64 * 1024

function bytesUpTo(path: string, most: number): Uint8Array | 'larger' {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > most) return 'larger'
    const bytes = Buffer.allocUnsafe(size || UNSIZED_BYTES)
    const length = fill(file, bytes)
    return length === bytes.length ? bytes : bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Reads until the buffer is full or the file ends. Returns the number of bytes read. */
function fill(file: number, buffer: Buffer): number {
  for (let at = 0; ;) {
    const count = at < buffer.length ? readSync(file, buffer, at, buffer.length - at, null) : 0
    if (count === 0) return at
    at += count
  }
}

function list(root: string): Pick<ProjectFiles, 'paths' | 'links'> {
  const paths: string[] = []
  const links: string[] = []
  const ignored = parseIgnore(new TextDecoder().decode(attempt(() => readFileSync(join(root, IGNORE_FILE))).value))
  const visit = (prefix: string): void => {
    const entries = entriesOf(`${root}/${prefix}`)
    if (prefix !== '' && isDataDirectory(entries)) return
    for (const entry of entries) {
      const path = `${prefix}${entry.name}`
      if (entry.isSymbolicLink()) {
        if (!ignored.matches(path) && !ignored.matches(`${path}/`)) links.push(path)
      } else if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name) && !ignored.matches(`${path}/`)) visit(`${path}/`)
      } else if (entry.isFile() && !ignored.matches(path)) paths.push(path)
    }
  }
  visit('')
  return { paths: paths.sort(), links: links.sort() }
}

/** Files that are in no directory: standard input, an archive, a test. */
export function memoryFiles(files: FileContents): ProjectFiles {
  const bytes = new Map(Object.entries(files).map(([path, content]) => [path, bytesOf(content)]))
  return {
    paths: [...bytes.keys()].sort(),
    links: [],
    has: (path) => bytes.has(path),
    read: (path) => bytes.get(path),
    readUpTo(path, most) {
      const content = bytes.get(path)
      return content !== undefined && content.length > most ? 'larger' : content
    },
    head: (path) => bytes.get(path)?.subarray(0, HEAD_BYTES) ?? new Uint8Array(),
    size: (path) => bytes.get(path)?.length ?? 0,
  }
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : content

/** The data directory of a server may be in the project under any name; it contains no documents. */
const isDataDirectory = (entries: readonly Dirent[]): boolean =>
  DATA_FILES.every((name) => entries.some((entry) => entry.name === name && entry.isFile()))

const DATA_FILES = ['data.db', 'lock.db']

/** Unreadable and just removed directories count as empty. */
const entriesOf = (directory: string): Dirent[] =>
  attempt(() => readdirSync(directory, { withFileTypes: true })).value ?? []

/** The content or the reason it cannot be read; undefined for a file that was just removed, as editors and builds do. */
function attempt<T>(read: () => T): { readonly value?: T; readonly refusal?: string } {
  try {
    return { value: read() }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    return { refusal: code === 'EACCES' || code === 'EPERM' ? 'permission denied' : code }
  }
}

function firstOf(path: string): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const head = new Uint8Array(HEAD_BYTES)
    return head.subarray(0, readSync(file, head))
  } finally {
    closeSync(file)
  }
}

const HEAD_BYTES = 4096
