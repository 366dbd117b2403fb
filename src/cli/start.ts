/** Where the process begins. Source: performance, "What works", 6, and goals G8 and G14. */
import { cacheCompiledCode } from './compile-cache.ts'
import { endWithoutOutput } from './lost-output.ts'
import { tellVersion } from './version.ts'

export async function start(argv: readonly string[]): Promise<void> {
  const end = (code: number): void => {
    // What was written leaves before the process does; sockets that are kept for reuse must not hold it back.
    process.stdout.write('', (lost) => (lost ? endWithoutOutput(process.stdout.errored ?? lost) : process.exit(code)))
  }
  if (tellVersion(argv, process.stdout)) return end(0)
  cacheCompiledCode(process.env)
  const { main } = await import('./main.ts')
  end(await main(argv))
}
