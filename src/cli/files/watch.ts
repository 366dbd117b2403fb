import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileFailure } from '../../base/file-error.ts'

/**
 * Editors write a file in several steps; what comes within this time is one save. Longer than the 50 ms in which chokidar tells
 * no second change of a file: what is written in them has to be seen by the call for the first.
 */
const SETTLE_MS = 75

/**
 * Calls `changed` with the paths of each save, one call after the other. Resolves when the watch has begun.
 * A call that throws ends the watch and is thrown again by `close`, as is an error of the watch itself.
 */
export async function watchFiles(
  directory: string,
  changed: (paths: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar')
  const watcher = watch(directory, {
    ignoreInitial: true,
    ignorePermissionErrors: true,
    ignored: (path) => path !== directory && isIgnored(path),
  })
  const paths = new Set<string>()
  const added = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let working = Promise.resolve()
  const flush = (): void => {
    timer = undefined
    // An editor that saves atomically writes a file of another name and moves it: what came and went is no part of the save.
    const batch = [...paths].filter((path) => !added.has(path) || existsSync(path)).sort()
    paths.clear()
    added.clear()
    if (batch.length === 0) return
    working = working.then(() => (signal.aborted ? undefined : changed(batch)))
    // Told by `close`; until then it must not count as unhandled.
    working.catch(() => undefined)
  }
  watcher.on('all', (event, path) => {
    // Directories tell nothing that their files do not.
    if (event === 'addDir' || event === 'unlinkDir') return
    if (event === 'add' && !paths.has(path)) added.add(path)
    paths.add(path)
    clearTimeout(timer)
    timer = setTimeout(flush, SETTLE_MS)
  })
  await new Promise<void>((ready, failed) => {
    watcher.once('ready', () => ready())
    watcher.on('error', (error) => {
      const failure = fileFailure(error, { path: directory }) ?? error
      failed(failure)
      working = working.then(() => Promise.reject(failure))
      working.catch(() => undefined)
    })
  })
  return {
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await working
    },
  }
}

/** Data, packages, logs and what editors leave. */
const isIgnored = (path: string): boolean => {
  const name = basename(path)
  return (
    // A data directory of any name: its server writes while runs go on.
    existsSync(join(path, 'lock.db')) ||
    existsSync(join(dirname(path), 'lock.db')) ||
    name === 'node_modules' ||
    name.endsWith('~') ||
    name.endsWith('.log') ||
    (name.startsWith('.') && !name.startsWith('.env'))
  )
}
