/** Open event streams, by the key that opened them. */
export interface StreamReaders {
  /** @returns a function to call when the stream has ended */
  add(owner: string, stop: () => void): () => void
  /** Those who have streams open. */
  owners(): readonly string[]
  /** How many streams the owner has open. */
  count(owner: string): number
  /** Ends the streams of one owner, at once. */
  stop(owner: string): void
  stopAll(): void
}

export function createStreamReaders(): StreamReaders {
  const open = new Map<string, Set<() => void>>()
  const stop = (owner: string) => {
    for (const each of open.get(owner) ?? []) each()
  }
  return {
    add(owner, each) {
      const mine = open.get(owner) ?? new Set()
      open.set(owner, mine.add(each))
      return () => {
        mine.delete(each)
        if (mine.size === 0 && open.get(owner) === mine) open.delete(owner)
      }
    },
    owners: () => [...open.keys()],
    count: (owner) => open.get(owner)?.size ?? 0,
    stop,
    stopAll: () => [...open.keys()].forEach(stop),
  }
}
