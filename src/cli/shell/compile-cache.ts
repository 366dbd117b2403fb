import { mkdirSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { isAbsolute, join } from 'node:path'

type EnableCompileCache = (directory: string) => unknown

/**
 * Enables Node's compile cache (Node 22 and later). Node executes what it finds there, so the directory must belong to the
 * user and be writable by nobody else; Node's default lies in the shared temporary directory.
 * @param enable absent in older versions of Node
 */
export function cacheCompiledCode(
  { XDG_CACHE_HOME, HOME }: Readonly<Record<string, string | undefined>>,
  enable = (nodeModule as { readonly enableCompileCache?: EnableCompileCache }).enableCompileCache,
): void {
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  if (enable === undefined || !caches || !isAbsolute(caches)) return
  const directory = join(caches, 'svc', 'code')
  if (isOwn(directory)) enable(directory)
}

/** Creates the directory if needed. False where that fails, or where others may write to it. */
function isOwn(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(directory)
    return [process.getuid?.() ?? uid, 0].includes(uid) && (mode & 0o022) === 0
  } catch {
    return false
  }
}
