import { mkdirSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { isAbsolute, join } from 'node:path'

type EnableCompileCache = (directory: string) => unknown

/**
 * Lets Node cache what it compiles, from Node 22 on. What lies there will be executed, so the directory is the user's own,
 * not one below the system's temporary directory, as Node would choose it, and not one that somebody else can write.
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

/** Makes the directory where there is none. One that cannot be made or looked at is not used. */
function isOwn(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(directory)
    return [process.getuid?.() ?? uid, 0].includes(uid) && (mode & 0o022) === 0
  } catch {
    return false
  }
}
