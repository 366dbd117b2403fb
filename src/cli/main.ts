import type { Io } from './io.ts'
import { tellVersion } from './version.ts'

/**
 * The command line: arguments in, exit code out. Nothing but the argument parser is loaded before the command is known.
 * @param io the world; absent = this process
 */
export async function main(argv: readonly string[], io?: Io): Promise<number> {
  if (tellVersion(argv, io?.stdout ?? process.stdout)) return 0
  // A shell asks at every TAB: nothing that parses or runs commands is loaded for it.
  if (argv[0] === 'complete') {
    const { complete } = await import('./complete.ts')
    return complete(argv.slice(1), io ?? (await import('./process-io.ts')).processIo())
  }
  const { invoke } = await import('./invoke.ts')
  return invoke(argv, io ?? (await import('./process-io.ts')).processIo())
}
