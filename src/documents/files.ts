/** Where files come from: a directory, or memory. Source: bundles, section 2. */
import { hash } from 'node:crypto'
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
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { parseIgnore } from './ignore.ts'

export interface Files {
  /** Absolute path of the directory, without links; absent in memory. */
  readonly root?: string
  /** Regular files, relative, `/` separated, sorted by code unit. */
  readonly paths: readonly string[]
  /** Symbolic links that were met; none is followed. */
  readonly links: readonly string[]
  has(path: string): boolean
  /**
   * Bytes, or undefined where there is no such regular file or this user may not read it. Each file is read once: what is hashed
   * is what is parsed.
   */
  read(path: string): Uint8Array | undefined
  /** The same of a file of at most so many bytes; a larger one is not read. */
  readUpTo(path: string, most: number): Uint8Array | 'larger' | undefined
  /** Why a file that is there could not be read. */
  refusal?(path: string): string | undefined
  /** The first 4 KiB of a file, for one that is too large to be read. */
  head(path: string): Uint8Array
  /** Size in bytes; 0 where there is no such file. */
  size(path: string): number
  /** Lets go of all bytes that were read; who asks for them again reads them again. */
  release?(): void
  /** What was read from a path, or is there now where nothing was read. */
  trace?(path: string): Trace
  /** Every path that was read or measured so far: what a result depends on beside the list of paths. */
  seen?(): readonly string[]
}

/** By what a file is known again. */
export interface Trace {
  /** Of its bytes; empty where there is no such file. */
  readonly digest: string
  /** Absent for what was never opened. */
  readonly stamp: string | undefined
}

/** What a file is known by after two readings: by nothing, where it changed between them. */
export const sameTrace = (one: Trace, other: Trace = one): Trace =>
  one.digest === other.digest ? one : { digest: 'changed', stamp: undefined }

/** How a file looks from outside. It begins with the moment of its last change, in milliseconds. */
export const stampOf = ({ size, mtimeMs, ctimeMs, ino }: Stats): string =>
  `${Math.floor(Math.max(mtimeMs, ctimeMs))} ${Math.floor(ctimeMs)} ${size} ${ino}`

/** What a directory holds, without the content. */
export type Listing = Pick<Files, 'paths' | 'links'>

/** Directories that hold no documents, besides those that begin with a dot. */
const SKIPPED = new Set(['node_modules'])

/** A list of ignored paths beside the documents. */
export const IGNORE_FILE = '.svcignore'

/** Contents by path. */
export type Contents = Readonly<Record<string, string | Uint8Array>>

/**
 * The files of a directory. `overlay` stands in for, or is added to, what is on the disk.
 * @param sees told of each file as soon as it is found
 */
export function directoryFiles(directory: string, overlay: Contents = {}, sees?: (path: string) => void): Files {
  const root = realpathSync(directory)
  return listedFiles(root, list(root, sees), overlay)
}

/** The same without another look at the directory. */
export function listedFiles(root: string, listing: Listing, overlay: Contents = {}): Files {
  const known = new Set(listing.paths)
  const added = Object.keys(overlay).filter((path) => !known.has(path))
  const cache = new Map(Object.entries(overlay).map(([path, content]) => [path, bytesOf(content)]))
  const seen = new Set<string>()
  const order: string[] = []
  const see = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    order.push(path)
  }
  const traces = new Map<string, Trace>()
  const stamps = new Map<string, string>()
  const refused = new Map<string, string>()
  const reading = <T>(path: string, from: (file: string) => T): T | undefined => {
    const { value, refusal } = attempt(() => from(`${root}/${path}`))
    if (refusal !== undefined) refused.set(path, refusal)
    return value
  }
  // That of the first reading, as the digest is: what is read again may have become another.
  const note = (path: string, stats: Stats): void => {
    if (!stamps.has(path)) stamps.set(path, stampOf(stats))
  }
  const load = (path: string, most: number): Uint8Array | 'larger' | undefined => {
    const bytes = cache.get(path)
    if (bytes !== undefined) return bytes.length > most ? 'larger' : bytes
    return known.has(path) ? reading(path, (file) => bytesUpTo(file, most, (stats) => note(path, stats))) : undefined
  }
  const readUpTo = (path: string, most: number): Uint8Array | 'larger' | undefined => {
    see(path)
    const bytes = load(path, most)
    if (bytes !== undefined && bytes !== 'larger') cache.set(path, bytes)
    return bytes
  }
  const trace = (path: string): Trace => {
    const known = traces.get(path) ?? { digest: digestOf(whole(load(path, Infinity))), stamp: stamps.get(path) }
    traces.set(path, known)
    return known
  }
  return {
    root,
    paths: added.length === 0 ? listing.paths : [...listing.paths, ...added].sort(),
    links: listing.links,
    has: (path) => known.has(path) || Object.hasOwn(overlay, path),
    read: (path) => whole(readUpTo(path, Infinity)),
    readUpTo,
    size(path) {
      see(path)
      if (cache.has(path) || !known.has(path)) return cache.get(path)?.length ?? 0
      return lstatSync(`${root}/${path}`, { throwIfNoEntry: false })?.size ?? 0
    },
    refusal: (path) => refused.get(path),
    head: (path) => reading(path, firstOf) ?? new Uint8Array(),
    release() {
      for (const path of cache.keys()) {
        if (Object.hasOwn(overlay, path)) continue
        trace(path)
        cache.delete(path)
      }
    },
    trace,
    seen: () => order,
  }
}

const digestOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '' : hash('sha256', bytes, 'base64url')

/** What was read without a limit. */
const whole = (bytes: Uint8Array | 'larger' | undefined): Uint8Array | undefined =>
  bytes === 'larger' ? undefined : bytes

/** What is read of a file that has no size, as those of a system have that says something of itself. */
const UNSIZED_BYTES = 64 * 1024

/** @param see told how the file looks before it is read: what changes it meanwhile changes that, too */
function bytesUpTo(path: string, most: number, see: (stats: Stats) => void): Uint8Array | 'larger' {
  const file = openSync(path, 'r')
  try {
    const stats = fstatSync(file)
    see(stats)
    if (stats.size > most) return 'larger'
    const bytes = Buffer.allocUnsafe(stats.size || UNSIZED_BYTES)
    const length = fill(file, bytes)
    return length === bytes.length ? bytes : bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Reads until the buffer is full or the file is at its end. Answers how far the buffer is full. */
function fill(file: number, buffer: Buffer): number {
  for (let at = 0; ;) {
    const count = at < buffer.length ? readSync(file, buffer, at, buffer.length - at, null) : 0
    if (count === 0) return at
    at += count
  }
}

function list(root: string, sees: (path: string) => void = () => undefined): Listing {
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
      } else if (entry.isFile() && !ignored.matches(path)) {
        paths.push(path)
        sees(path)
      }
    }
  }
  visit('')
  return { paths: paths.sort(), links: links.sort() }
}

/** Files that are in no directory: standard input, an archive, a test. */
export function memoryFiles(files: Contents): Files {
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

/** What a server keeps may lie in the project under any name; none of it was written by an author. */
const isDataDirectory = (entries: readonly Dirent[]): boolean =>
  DATA_FILES.every((name) => entries.some((entry) => entry.name === name && entry.isFile()))

const DATA_FILES = ['data.db', 'lock.db']

/** A directory that this user may not read holds nothing for him; one that has just been removed, for nobody. */
const entriesOf = (directory: string): Dirent[] =>
  attempt(() => readdirSync(directory, { withFileTypes: true })).value ?? []

/** What was read; or why not, unless the file has just been removed, as editors and builds do. */
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
