import { writeSync } from 'node:fs'

/** Ends a process whose standard output does not arrive. A reader that has gone, as `head` has, needs no word; a full disk does. */
export function endWithoutOutput({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(141)
  const why = message.replace(/^[A-Z]+: /, '').replace(/, write$/, '')
  try {
    writeSync(2, `error[output_lost]: Standard output cannot be written: ${why}.\n`)
  } catch {
    // Nobody can be told.
  }
  process.exit(8)
}
