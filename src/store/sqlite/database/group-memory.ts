/** What the writes of one group know in memory of their transaction. */
export interface GroupMemory {
  /** Writes what is not written yet; called before each commit, and before a transaction reads it. */
  readonly write: () => void
  /** Forgets everything, because its transaction was rolled back. */
  readonly drop: () => void
}

/**
 * Sums that nearly every save adds to: tokens of the day, money, runs of an agent. Those of one group of writes are added up in memory and
 * written once, in the transaction that they belong to, so that a row which hundreds of runs share is not written for each of them.
 * @param plus the sum of two entries
 * @param put adds an entry to its row
 */
export function gatherSums<Entry>(
  plus: (a: Entry, b: Entry) => Entry,
  put: (entry: Entry) => void,
): GroupMemory & { readonly add: (key: string, entry: Entry) => void } {
  const sums = new Map<string, Entry>()
  return {
    add(key, entry) {
      const before = sums.get(key)
      sums.set(key, before === undefined ? entry : plus(before, entry))
    },
    write() {
      for (const entry of sums.values()) put(entry)
      sums.clear()
    },
    drop: () => sums.clear(),
  }
}
