/** A small generator with a seed (mulberry32): numbers from 0 to 1. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** True for a connection that broke, as a kill does; an answer that was wrong is another matter. */
export const isBroken = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || ['fetch failed', 'terminated'].includes(error.message))
