/**
 * What admitted a reader: its key, its credential or its console session, each with its rights as a text that changes with
 * them.
 */
export type ReaderGrants = Readonly<Record<string, string>>

/** Open event streams and waits, by the owner that admitted their readers. */
export interface StreamReaders {
  /** @returns a function to call when the stream has ended */
  add(grants: ReaderGrants, stop: () => void): () => void
  /** The keys, credentials and sessions that have streams open. */
  owners(): readonly string[]
  /** How many streams the owner has open. */
  count(owner: string): number
  /** Ends the streams of one owner, at once. */
  stop(owner: string): void
  /** Ends the streams of one owner that were admitted with other rights. */
  stopOthers(owner: string, rights: string | undefined): void
  /** Ends all of them, and from now on each that is added. */
  stopAll(): void
}

export function createStreamReaders(): StreamReaders {
  const open = new Map<string, Map<() => void, string>>()
  let areStopped = false
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
      if (areStopped) each()
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
    stopAll() {
      areStopped = true
      for (const owner of open.keys()) stop(owner)
    },
  }
}
