/** Reads files of a source folder, and nothing outside of it: no link is followed, and every read is bounded. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileErrorOf, fileFailure } from '../../base/files/file-error.ts'
import { usageFailure } from '../../base/usage-failure.ts'

const MAX_FILE_BYTES = 1024 * 1024
const MAX_FILES = 2000
const MAX_DEPTH = 8

/** Files below a folder in order of their names; what is a link or no file is told to `skip`. */
export function listSourceFiles(root: string, skip: (path: string, why: string) => void): readonly string[] {
  const found: string[] = []
  const visit = (path: string, depth: number): void => {
    if (depth > MAX_DEPTH) return skip(path, `left out: nested deeper than ${MAX_DEPTH} folders`)
    const entries = readdirSync(join(root, path), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const here = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isSymbolicLink()) skip(here, 'left out: a link may lead out of the source')
      else if (entry.isDirectory()) {
        if (!IGNORED.has(entry.name)) visit(here, depth + 1)
      } else if (!entry.isFile()) skip(here, 'left out: it is no file')
      else if (found.push(here) > MAX_FILES) throw usageFailure(`${root} has more than ${MAX_FILES} files.`)
    }
  }
  visit('', 0)
  return found
}

const IGNORED: ReadonlySet<string> = new Set(['node_modules', '.git'])

/**
 * The text of a file of the folder.
 * @param path from the folder, as `listSourceFiles` gives it
 * @throws Failure `usage`, `file_unusable`
 */
export const readSourceFile = (root: string, path: string): string =>
  readBounded(join(root, path), path, constants.O_NOFOLLOW)

/** The text of a file that a person gave, which may be a link. @throws Failure `usage`, `file_missing`, `file_unusable` */
export const readSourceText = (path: string): string => readBounded(path, path, 0)

function readBounded(file: string, path: string, flags: number): string {
  try {
    // A link that took the file's place since it was listed is refused here.
    const handle = openSync(file, constants.O_RDONLY | flags | constants.O_NONBLOCK)
    try {
      const stats = fstatSync(handle)
      if (!stats.isFile()) throw usageFailure(`${path} is no file.`)
      if (stats.size > MAX_FILE_BYTES) throw usageFailure(`${path} is larger than ${MAX_FILE_BYTES} bytes.`)
      const bytes = Buffer.alloc(MAX_FILE_BYTES)
      let length = 0
      for (let count = -1; count !== 0 && length < bytes.length; length += count)
        count = readSync(handle, bytes, length, bytes.length - length, null)
      const text = bytes.toString('utf8', 0, length)
      if (text.includes('\ufffd')) throw usageFailure(`${path} is not UTF-8, or holds U+FFFD.`)
      return text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw fileFailure(error, { path: file, doing: 'read' }) ?? error
  }
}

/** What a path that a person gave is. @throws Failure `file_missing`, `file_unusable` */
export function kindOfSource(path: string): 'file' | 'folder' {
  try {
    return lstatSync(path).isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (fileErrorOf(error)) throw fileFailure(error, { path, doing: 'read' }) ?? error
    throw error
  }
}
