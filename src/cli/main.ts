import type { Io } from './shell/io.ts'
import { tellVersion } from './shell/version.ts'

/**
 * The command line: arguments in, exit code out. Nothing but the argument parser is loaded before the command is known.
 * @param io the world; absent = this process
 */
export async function runCommandLine(argv: readonly string[], io?: Io): Promise<number> {
  if (tellVersion(argv, io?.stdout ?? process.stdout)) return 0
  // A shell asks at every TAB: nothing that parses or runs commands is loaded for it.
  if (argv[0] === 'complete') {
    const { completeWords } = await import('./complete.ts')
    return completeWords(argv.slice(1), io ?? (await import('./shell/process-io.ts')).processIo())
  }
  const { invokeCommand } = await import('./invoke.ts')
  return invokeCommand(argv, io ?? (await import('./shell/process-io.ts')).processIo())
}
