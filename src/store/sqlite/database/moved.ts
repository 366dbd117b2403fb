/**
 * The file `moved` in a data directory: where its content was copied to. A server that continued here would repeat every
 * effect.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../base/failure.ts'

const fileOf = (directory: string): string => join(directory, 'moved')

export function movedTo(directory: string): string | undefined {
  try {
    return readFileSync(fileOf(directory), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export const markMoved = (directory: string, to: string): void =>
  writeFileSync(fileOf(directory), `${to}\n`, { mode: 0o600, flush: true })

export const unmarkMoved = (directory: string): void => rmSync(fileOf(directory), { force: true })

/** @throws Failure `store_moved` */
export function refuseMoved(directory: string): void {
  const to = movedTo(directory)
  if (to !== undefined) throw fail('store_moved', { store: directory, to })
}
