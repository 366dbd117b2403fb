/**
 * By what a reader was let in: its key, its credential or its session of the console, each with what it may read as text that
 * changes with it.
 */
export type ReaderGrants = Readonly<Record<string, string>>

/** Open event streams and waits, by what let their readers in. */
export interface StreamReaders {
  /** @returns a function to call when the stream has ended */
  add(grants: ReaderGrants, stop: () => void): () => void
  /** The keys, credentials and sessions that have streams open. */
  owners(): readonly string[]
  /** How many streams the owner has open. */
  count(owner: string): number
  /** Ends the streams of one owner, at once. */
  stop(owner: string): void
  /** Ends those streams of one owner that were let in to read something else. */
  stopOthers(owner: string, rights: string | undefined): void
  stopAll(): void
}

export function createStreamReaders(): StreamReaders {
  const open = new Map<string, Map<() => void, string>>()
  const stopOthers = (owner: string, now: string | undefined) => {
    for (const [stop, rights] of open.get(owner) ?? []) if (rights !== now) stop()
  }
  const stop = (owner: string) => stopOthers(owner, undefined)
  return {
    add(grants, each) {
      for (const [owner, rights] of Object.entries(grants)) {
        const mine = open.get(owner) ?? new Map<() => void, string>()
        open.set(owner, mine.set(each, rights))
      }
      return () => {
        for (const owner of Object.keys(grants)) {
          const mine = open.get(owner)
          mine?.delete(each)
          if (mine?.size === 0) open.delete(owner)
        }
      }
    },
    owners: () => [...open.keys()],
    count: (owner) => open.get(owner)?.size ?? 0,
    stop,
    stopOthers,
    stopAll: () => [...open.keys()].forEach(stop),
  }
}
