/**
 * What V8 is told while many files are linted, or formatted. Compiled code is of use with the same flags alone with which it was
 * kept: that of Node's own libraries, and that of commands, with the usual ones; that of the threads that help a lint
 * (`lint-threads.ts`) with these. So nothing that a command loads is to be loaded while it is tuned.
 */

/** V8 11 (Node 20) reads these flags each time it needs them; of later versions none was measured. */
const isMeasured = process.versions.v8.startsWith('11.')

interface Setting {
  readonly brief: string
  /** What V8 takes. */
  readonly usual: string
}

const SETTINGS: readonly Setting[] = [
  // Bytes of bytecode that run between two looks at whether a function is worth to be optimised: a lint is over before most of what is has paid for it.
  { brief: '--interrupt-budget=1000000', usual: '--interrupt-budget=67584' },
  // Bytes of bytecode of other functions that the optimising compiler may draw into one, at which it can work longer than the command runs.
  { brief: '--max-inlined-bytecode-size-cumulative=200', usual: '--max-inlined-bytecode-size-cumulative=920' },
  // Percent by which the heap may outgrow what was in use when it was last cleaned. V8 takes several times as much, which makes memory a matter of the number of documents.
  { brief: '--heap-growing-percent=160', usual: '--heap-growing-percent=0' },
  // By how much the room for what is young grows when it is found too small. Doubled, it is cleaned five times more before it fits.
  { brief: '--semi-space-growth-factor=8', usual: '--semi-space-growth-factor=2' },
  // A thread that cleans what is young waits for those that help it, which on a machine with enough to do takes longer than to do it alone.
  { brief: '--no-parallel-scavenge', usual: '--parallel-scavenge' },
]

/** For a command that is over before code that runs often enough to be optimised has paid for it. */
export const tuneForBrevity = (): void => tell(SETTINGS.map(({ brief }) => brief))

/** As V8 has it. */
export const tuneAsUsual = (): void => tell(SETTINGS.map(({ usual }) => usual))

/** Does something of which most is run too seldom to be worth optimising. */
export async function briefly<T>(act: () => Promise<T>): Promise<T> {
  tuneForBrevity()
  try {
    return await act()
  } finally {
    tuneAsUsual()
  }
}

// Loaded where it is used: other commands start without it.
function tell(flags: readonly string[]): void {
  if (isMeasured) process.getBuiltinModule('node:v8').setFlagsFromString(flags.join(' '))
}
