/** Where the process begins. Source: performance, "What works", 6, and goals G8 and G14. */
import nodeModule from 'node:module'
import { join } from 'node:path'
import { endWithoutOutput } from './lost-output.ts'
import { tellVersion } from './version.ts'

export async function start(argv: readonly string[]): Promise<void> {
  const end = (code: number): void => {
    // What was written leaves before the process does; sockets that are kept for reuse must not hold it back.
    process.stdout.write('', (lost) => (lost ? endWithoutOutput(process.stdout.errored ?? lost) : process.exit(code)))
  }
  if (tellVersion(argv, process.stdout)) return end(0)
  keepCompiledCode()
  const { main } = await import('./main.ts')
  end(await main(argv))
}

/**
 * Lets Node keep what it compiles, from Node 22 on. The directory is the user's own: Node would take one below the system's
 * temporary directory, where another user could put code of his before.
 */
function keepCompiledCode(): void {
  const { XDG_CACHE_HOME, HOME } = process.env
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown }
  if (caches) enableCompileCache?.(join(caches, 'svc', 'code'))
}
