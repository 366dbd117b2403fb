/** What V8 is told about commands that are over before code that runs often enough to be optimised has paid for it. */
/** V8 11 (Node 20) reads these flags each time it needs them; of later versions none was measured. */
const isMeasured = process.versions.v8.startsWith('11.')

/**
 * Bytes of bytecode that run between two looks at whether a function is worth it: fifteen times what V8 takes. The optimising
 * compiler's threads would take more time than they save.
 */
const SELDOM = '--interrupt-budget=1000000'
/** What V8 takes. */
const OFTEN = '--interrupt-budget=67584'

const BRIEFLY = [
  SELDOM,
  // Bytes of bytecode of other functions that the optimising compiler may draw into one: V8 takes 920, for which it works longer than such a command runs.
  '--max-inlined-bytecode-size-cumulative=200',
  // Percent by which the heap may outgrow what was in use when it was last cleaned: V8 takes several times as much, which makes memory a matter of the number of documents.
  '--heap-growing-percent=80',
  // By how much the room for what is young grows when it is found too small: V8 doubles it, and cleans it five times more before it fits.
  '--semi-space-growth-factor=8',
  // A thread that cleans what is young waits for those that help it, which on a machine with enough to do takes longer than to do it alone.
  '--no-parallel-scavenge',
  // V8 interprets a regular expression once and compiles it when it comes again, as nearly all do that a command comes by: to compile at once is less.
  '--no-regexp-tier-up',
].join(' ')

/** For a command that is over soon. Compiled code that is kept is of use with the same flags alone: before any is read. */
export function tuneForBrevity(): void {
  if (isMeasured) tell(BRIEFLY)
}

/** While something runs of which little is known to cost most: what is hot there is optimised fifteen times sooner. */
export function optimisingSooner<T>(act: () => T): T {
  if (!isMeasured) return act()
  tell(OFTEN)
  try {
    return act()
  } finally {
    tell(SELDOM)
  }
}

// Loaded where it is used: commands that are told nothing start without it.
const tell = (flags: string): void => process.getBuiltinModule('node:v8').setFlagsFromString(flags)
