import type { Io } from './shell/io.ts'
import { handleVersionFlag } from './shell/version.ts'

/**
 * The command line: arguments in, exit code out. Nothing but the argument parser is loaded before the command is known.
 * @param io terminal, files and network; absent = those of this process
 */
export async function runCommandLine(argv: readonly string[], io?: Io): Promise<number> {
  if (handleVersionFlag(argv, io?.stdout ?? process.stdout)) return 0
  // Shells call this at every TAB, so neither the parser nor any command is loaded.
  // Shells ask so for completions of words; a token follows no dashes.
  if (argv[0] === 'complete' && argv[1] === '--') {
    const { completeWords } = await import('./complete.ts')
    return completeWords(argv.slice(1), io ?? (await import('./shell/process-io.ts')).processIo())
  }
  const { invokeCommand } = await import('./invoke.ts')
  const { guardTerminal } = await import('./shell/guard-terminal.ts')
  return invokeCommand(argv, guardTerminal(io ?? (await import('./shell/process-io.ts')).processIo()))
}
