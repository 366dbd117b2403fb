/**
 * Finds texts that an automaton reads in several ways. Weber and Seidl, "On the degree of ambiguity of finite automata".
 */
import { PatternTooLarge, type PositionWays } from './position-automaton.ts'

/** Pairs and triples of positions that are looked at: some milliseconds. */
const MAX_STEPS = 200_000

const NO_WAYS: PositionWays = new Map()

/** Walks over one, two or three positions at a time, each of which takes the same text. */
export class AmbiguitySearch {
  readonly #next: readonly PositionWays[]
  readonly #takes: readonly bigint[]
  #steps = 0

  constructor(next: readonly PositionWays[], takes: readonly bigint[]) {
    this.#next = next
    this.#takes = takes
  }

  /** Positions that lead back to each other. */
  loops(): number[][] {
    const reach = this.#next.map((_, position) => this.#reachable(position))
    const done = new Set<number>()
    const loops: number[][] = []
    for (const [position, from] of reach.entries()) {
      if (done.has(position) || !from.has(position)) continue
      const loop = [...from].filter((other) => reach[other]?.has(position))
      for (const each of loop) done.add(each)
      loops.push(loop)
    }
    return loops
  }

  #reachable(position: number): Set<number> {
    const found = new Set<number>()
    const open = [position]
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const to of this.#after(at).keys()) {
        this.#count()
        if (!found.has(to)) open.push(to)
        found.add(to)
      }
    return found
  }

  /** True when some text leads from a position of the loop back to it in two ways. */
  hasTwoWays(loop: readonly number[]): boolean {
    const inside = new Set(loop)
    for (const from of loop) for (const [to, ways] of this.#after(from)) if (ways > 1 && inside.has(to)) return true
    const size = this.#next.length
    const before = new Map<number, number[]>()
    const seen = new Set(loop.map((position) => position * size + position))
    for (const pair of seen) {
      const [a, b] = [Math.floor(pair / size), pair % size]
      for (const x of this.#after(a).keys()) {
        if (!inside.has(x)) continue
        for (const y of this.#after(b).keys()) {
          this.#count()
          if (!inside.has(y) || (this.#taken(x) & this.#taken(y)) === 0n) continue
          const to = x * size + y
          before.set(to, [...(before.get(to) ?? []), pair])
          seen.add(to)
        }
      }
    }
    // Which of the pairs that were reached lead back to one and the same position.
    const back = new Set(loop.map((position) => position * size + position))
    for (const pair of back) for (const from of before.get(pair) ?? []) back.add(from)
    return [...back].some((pair) => Math.floor(pair / size) !== pair % size)
  }

  /** True when some text leads around the first loop, from it into the second, and around the second. */
  readsTheSame(first: readonly number[], second: readonly number[], avoid: ReadonlySet<number>): boolean {
    return first.some((p) => second.some((q) => !avoid.has(q) && this.#pumps(p, q, first, second, avoid)))
  }

  #pumps(p: number, q: number, first: readonly number[], second: readonly number[], avoid: ReadonlySet<number>) {
    const [inFirst, inSecond, size] = [new Set(first), new Set(second), this.#next.length]
    const goal = (p * size + q) * size + q
    const seen = new Set([(p * size + p) * size + q])
    for (const triple of seen) {
      const [a, b, c] = [Math.floor(triple / size / size), Math.floor(triple / size) % size, triple % size]
      for (const x of this.#after(a).keys()) {
        if (!inFirst.has(x)) continue
        for (const z of this.#after(c).keys()) {
          if (!inSecond.has(z) || avoid.has(z)) continue
          const both = this.#taken(x) & this.#taken(z)
          if (both === 0n) continue
          for (const y of this.#after(b).keys()) {
            this.#count()
            if (avoid.has(y) || (both & this.#taken(y)) === 0n) continue
            const to = (x * size + y) * size + z
            if (to === goal) return true
            seen.add(to)
          }
        }
      }
    }
    return false
  }

  #after(position: number): PositionWays {
    return this.#next[position] ?? NO_WAYS
  }

  #taken(position: number): bigint {
    return this.#takes[position] ?? 0n
  }

  #count(): void {
    if (++this.#steps > MAX_STEPS) throw new PatternTooLarge()
  }
}
