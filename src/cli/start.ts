/** Entry point of the process. Source: docs/design/command-line.md#start-time */
import { cacheCompiledCode } from './shell/compile-cache.ts'
import { exitOnLostOutput } from './shell/lost-output.ts'
import { handleVersionFlag } from './shell/version.ts'

/** The command line, loaded on first use: also by a program that has input and output of its own. */
export const loadCommandLine = () => import('./main.ts')

export async function startProcess(argv: readonly string[]): Promise<void> {
  const end = (code: number): void => {
    // Flushes stdout, then exits explicitly: kept-alive sockets would hold the process open.
    process.stdout.write('', (lost) => (lost ? exitOnLostOutput(process.stdout.errored ?? lost) : process.exit(code)))
  }
  if (handleVersionFlag(argv, process.stdout)) return end(0)
  cacheCompiledCode(process.env)
  const { runCommandLine } = await loadCommandLine()
  end(await runCommandLine(argv))
}
