/** Paths inside a bundle: relative, `/` separated. Source: bundles, section 2; security, S22. */

import { isAscii } from './scripts.ts'

/**
 * A path as the author wrote it, without `./`, or what is wrong with it.
 * Refused: absolute, `..`, backslash, drive, NUL, empty names, a trailing dot or space, anything but NFC.
 */
export function checkPath(written: string): { readonly path: string } | { readonly problem: string } {
  if (PLAIN.test(written)) return { path: written }
  const path = written.replace(/^(?:\.\/)+/, '')
  if (path === '' || path === '.') return { problem: 'it names no file' }
  if (path.includes('\0')) return { problem: 'it contains NUL' }
  if (path.includes('\\')) return { problem: 'it contains a backslash; directories are separated by `/`' }
  if (path.startsWith('/')) return { problem: 'it is absolute' }
  if (/^[A-Za-z]:/.test(path)) return { problem: 'it begins with a drive' }
  if (path.normalize('NFC') !== path) return { problem: 'it is not in Unicode form NFC' }
  const names = path.split('/')
  if (names.includes('..')) return { problem: 'it leaves its directory with `..`' }
  if (names.some((name) => name === '' || name === '.')) return { problem: 'it has an empty name in it' }
  if (names.some((name) => /[. ]$/.test(name))) return { problem: 'a name in it ends with a dot or a space' }
  return { path }
}

/** Names of letters, digits, `_` and `-` with single dots between: nothing is wrong with such a path, and most are of this form. */
const PLAIN = /^[\w-]+(?:[./][\w-]+)*$/

/** True for what may hold documents as far as its name tells. */
export const mayHoldDocuments = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path)

/** What two paths share that are one file where case does not count: the full case folding of Unicode, `STRASSE` and `straße`. */
export const foldPath = (path: string): string => (isAscii(path) ? path.toLowerCase() : foldLetters(path))

const foldLetters = (path: string): string =>
  // Upper case first, since that is where one letter becomes two; letter by letter, since a last sigma is lowered otherwise.
  Array.from(path.normalize('NFC'), (each) => (each === 'ı' ? each : each.toUpperCase().toLowerCase())).join('')

export const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const joinPath = (directory: string, path: string): string => (directory === '' ? path : `${directory}/${path}`)
export const isUnder = (directory: string, path: string): boolean =>
  directory === '' || path.startsWith(`${directory}/`)

/** Those of the paths, which are sorted by code unit, that are under a directory: they stand side by side. */
export function pathsUnder(paths: readonly string[], directory: string): readonly string[] {
  if (directory === '') return paths
  const from = firstAtLeast(paths, `${directory}/`)
  // '0' is the character after '/'.
  return paths.slice(from, firstAtLeast(paths, `${directory}0`))
}

function firstAtLeast(sorted: readonly string[], text: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < text) low = middle + 1
    else high = middle
  }
  return low
}

/** With the dot; empty when the last name has none. */
export const extensionOf = (path: string): string => /[^/](\.[^./]+)$/.exec(path)?.[1] ?? ''
