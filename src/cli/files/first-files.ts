/**
 * Files that are looked at when a command begins. Node's promises of `fs` take longer to load than all of these to read.
 */
import { lstatSync, readdirSync, readFileSync, statSync, type Stats } from 'node:fs'

/** Undefined where there is nothing, or nothing that can be looked at. */
export const statOf = (path: string): Stats | undefined => attempt(() => statSync(path))

/** The same of a symbolic link itself. */
export const linkStatOf = (path: string): Stats | undefined => attempt(() => lstatSync(path))

/** Empty where there is no such file, or none that can be read. */
export const textOf = (path: string): string => attempt(() => readFileSync(path, 'utf8')) ?? ''

/** What a directory holds; empty where there is none, or none that can be looked into. */
export const namesIn = (directory: string): string[] => attempt(() => readdirSync(directory)) ?? []

function attempt<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
