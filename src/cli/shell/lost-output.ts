import { writeSync } from 'node:fs'

/** Exits after a failed write to stdout: silently for a closed pipe (`| head`), with a message for a full disk. */
export function exitOnLostOutput({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(141)
  const why = message.replace(/^[A-Z]+: /, '').replace(/, write$/, '')
  try {
    writeSync(2, `error[output_lost]: Standard output cannot be written: ${why}.\n`)
  } catch {
    // stderr is lost as well.
  }
  process.exit(8)
}
