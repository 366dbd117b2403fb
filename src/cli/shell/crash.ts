import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { toIsoText } from '../../base/clock.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import type { Io } from './io.ts'
import { packageVersion } from './version.ts'

/** Writes a crash report without the command's arguments, which may hold inputs or secrets. */
export async function writeCrash(error: unknown, io: Io): Promise<{ readonly line: string; readonly report: string }> {
  const line = error instanceof Error ? error.message : String(error)
  const at = toIsoText(io.clock.now())
  const directory = join(io.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'svc')
  const report = join(directory, `crash-${at.replaceAll(':', '-')}.txt`)
  const stack = error instanceof Error ? causes(error) : line
  try {
    makeDirectory(directory, 0o700)
    await writeFile(
      report,
      `svc ${packageVersion}, node ${process.version}, ${process.platform}\n${at}\n\n${stack}\n`,
      {
        mode: 0o600,
      },
    )
    return { line, report }
  } catch {
    return { line, report: '(could not be written; run again with --debug)' }
  }
}

const causes = (error: Error): string =>
  `${error.stack ?? error.message}${error.cause instanceof Error ? `\ncaused by ${causes(error.cause)}` : ''}`
