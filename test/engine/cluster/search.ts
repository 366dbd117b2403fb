/** Lives histories from a seed on until one breaks a promise. */
import { liveTogether } from './cluster.ts'
import { brokenPromises } from './promises.ts'
import type { Weakness } from './weaknesses.ts'

/** Every so many histories nothing goes wrong but hints and clocks. */
const CALM_EVERY = 4

export interface HistorySearch {
  readonly first: number
  readonly histories: number
  readonly weakness?: Weakness
  /** Asked before each history, with the number of those that are over. */
  readonly goesOn?: (done: number) => boolean
}

export interface SearchResult {
  readonly done: number
  /** Of the first history that broke a promise. */
  readonly seed?: number
  readonly broken: readonly string[]
  /** Rows of the table of call moves that were taken. */
  readonly taken: ReadonlySet<string>
}

export async function findBrokenPromise({
  first,
  histories,
  weakness = {},
  goesOn = () => true,
}: HistorySearch): Promise<SearchResult> {
  const taken = new Set<string>()
  for (let done = 0; ; done++) {
    if (done === histories || !goesOn(done)) return { done, broken: [], taken }
    const seed = first + done
    const history = await liveTogether(seed, weakness, seed % CALM_EVERY === 0)
    const broken = await brokenPromises(history)
    for (const move of history.moves.taken) taken.add(move)
    await history.store.close()
    if (broken.length > 0) return { done, seed, broken, taken }
  }
}
