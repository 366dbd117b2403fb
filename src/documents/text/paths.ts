/** Paths inside a bundle: relative, `/` separated. Source: docs/design/bundles-and-authority.md#paths-and-files */

/**
 * Checks a path; returns it without `./`, or the fault.
 * Refused: absolute, `..`, backslash, drive, NUL, empty names, a trailing dot or space, anything but NFC.
 */
export function checkPath(written: string): { readonly path: string } | { readonly problem: string } {
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

/** True for a file name that documents may have. */
export const mayHoldDocuments = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path)

/** Equal for paths that are one file on a case-insensitive file system: full Unicode case folding, as of `STRASSE` and `straße`. */
export const foldPath = (path: string): string =>
  // Upper case first, because it expands letters (`ß`); letter by letter, because a final sigma has another lower case.
  Array.from(path.normalize('NFC'), (each) => (each === 'ı' ? each : each.toUpperCase().toLowerCase())).join('')

export const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const joinPath = (directory: string, path: string): string => (directory === '' ? path : `${directory}/${path}`)
export const isUnder = (directory: string, path: string): boolean =>
  directory === '' || path.startsWith(`${directory}/`)

export const pathsUnder = (paths: readonly string[], directory: string): readonly string[] =>
  paths.filter((path) => isUnder(directory, path))

/** With the dot; empty when the last name has none. */
export const extensionOf = (path: string): string => /[^/](\.[^./]+)$/.exec(path)?.[1] ?? ''
