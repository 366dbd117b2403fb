import { existsSync, fstatSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileFailure } from '../../base/files/file-error.ts'

/**
 * Changes within this time count as one save, since editors write a file in several steps. Must exceed the 50 ms for which
 * chokidar suppresses a second change of a file, or that change would be missed.
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
    // Atomic saves create a temporary file and move it: files that came and went are ignored.
    const batch = [...paths].filter((path) => !added.has(path) || existsSync(path)).sort()
    paths.clear()
    added.clear()
    if (batch.length === 0) return
    working = working.then(() => (signal.aborted ? undefined : changed(batch)))
    // `close` throws it; until then it must not count as unhandled.
    working.catch(() => undefined)
  }
  watcher.on('all', (event, path) => {
    // Files report their own events.
    if (event === 'addDir' || event === 'unlinkDir') return
    if (isOwnOutput(path)) return
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

/** Data directories, packages, logs and temporary files of editors. */
const isIgnored = (path: string): boolean => {
  const name = basename(path)
  return (
    // A data directory under any name: its server writes to it during runs.
    existsSync(join(path, 'lock.db')) ||
    existsSync(join(dirname(path), 'lock.db')) ||
    name === 'node_modules' ||
    name.endsWith('~') ||
    name.endsWith('.log') ||
    (name.startsWith('.') && !name.startsWith('.env'))
  )
}

/** True for the file into which a shell leads what this process prints: else each line would count as a save. */
function isOwnOutput(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false })
  return file !== undefined && OUTPUTS.some(({ dev, ino }) => dev === file.dev && ino === file.ino)
}

/** Standard output and error, where they are files. */
const OUTPUTS: readonly Stats[] = [1, 2].map((descriptor) => fstatSync(descriptor)).filter((each) => each.isFile())
