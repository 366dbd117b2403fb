/** Open event streams, by the key that opened them. */
export interface StreamReaders {
  /**
   * @param rights what its reader could read when it was let in, as text that changes with it; absent where that is not known
   * @returns a function to call when the stream has ended
   */
  add(owner: string, stop: () => void, rights?: string): () => void
  /** Those who have streams open. */
  owners(): readonly string[]
  /** How many streams the owner has open. */
  count(owner: string): number
  /** Ends the streams of one owner, at once. */
  stop(owner: string): void
  /** Ends those streams of one owner that were opened with other rights. */
  stopOthers(owner: string, rights: string): void
  stopAll(): void
}

export function createStreamReaders(): StreamReaders {
  const open = new Map<string, Map<() => void, string | undefined>>()
  const stop = (owner: string) => {
    for (const each of open.get(owner)?.keys() ?? []) each()
  }
  return {
    add(owner, each, rights) {
      const mine = open.get(owner) ?? new Map<() => void, string | undefined>()
      open.set(owner, mine.set(each, rights))
      return () => {
        mine.delete(each)
        if (mine.size === 0 && open.get(owner) === mine) open.delete(owner)
      }
    },
    owners: () => [...open.keys()],
    count: (owner) => open.get(owner)?.size ?? 0,
    stop,
    stopOthers(owner, now) {
      for (const [each, rights] of open.get(owner) ?? []) if (rights !== undefined && rights !== now) each()
    },
    stopAll: () => [...open.keys()].forEach(stop),
  }
}
