/** Synchronous reads at the start of a command: loading `fs/promises` takes longer than reading these few files. */
import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { readBoundedText } from './read-bounded.ts'

/** Undefined where the file is missing or cannot be read. */
export const statIfAny = (path: string): Stats | undefined => attempt(() => statSync(path))

/** As `statIfAny`, for a symbolic link itself. */
export const linkStatIfAny = (path: string): Stats | undefined => attempt(() => lstatSync(path))

/** Empty where the file is missing or cannot be read. */
export const readTextIfAny = (path: string): string => attempt(() => readBoundedText(path)) ?? ''

/** Names in a directory; empty where it is missing or cannot be read. */
export const listNamesIfAny = (directory: string): string[] => attempt(() => readdirSync(directory)) ?? []

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
