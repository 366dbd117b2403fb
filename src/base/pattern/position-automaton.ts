/**
 * The position automaton of a pattern (Glushkov): a state for each place of the pattern that takes a code point, linked to those
 * that may take the next one, with the number of ways that lead there.
 */
import type { PatternNode } from './pattern-syntax.ts'

/** Thrown for a pattern that is too large to be examined. */
export class PatternTooLarge extends Error {}

/** Positions of one pattern. */
const MAX_POSITIONS = 400
/** More repetitions than that are taken for a loop. */
const MAX_COPIES = 16

/** Positions with the number of ways that lead there; 2 stands for several. */
export type PositionWays = Map<number, number>

/** The automaton of a part of the pattern. */
interface Fragment {
  /** Number of ways to match nothing. */
  readonly empty: number
  /** Positions that may come first and last. */
  readonly first: PositionWays
  readonly last: PositionWays
}

export class PositionAutomaton {
  /** By position: the code points that it takes, a bit for each sample. */
  readonly takes: bigint[] = []
  /** By position: those that may take the next code point. */
  readonly next: PositionWays[] = []
  readonly #masks = new Map<string, bigint>()

  /** Adds a position before the first ones that takes any text: a match may begin at every place. */
  addStartAnywhere(first: PositionWays): number {
    const start = this.takes.push(EVERYTHING) - 1
    this.next.push(new Map([[start, 1], ...first]))
    return start
  }

  /** Adds the positions of a part and links them. */
  build(node: PatternNode): Fragment {
    switch (node.at) {
      case 'atom': {
        const position = this.#addPosition(node.source)
        return { empty: 0, first: new Map([[position, 1]]), last: new Map([[position, 1]]) }
      }
      case 'sequence':
        return node.parts.reduce((done: Fragment, part) => this.#join(done, this.build(part)), EMPTY)
      case 'choice': {
        const parts = node.parts.map((part) => this.build(part))
        const empty = parts.reduce((sum, part) => sum + part.empty, 0)
        const [first, last]: [PositionWays, PositionWays] = [new Map(), new Map()]
        for (const part of parts) addWays(first, part.first, 1)
        for (const part of parts) addWays(last, part.last, 1)
        return { empty: Math.min(2, empty), first, last }
      }
      case 'repeat':
        return this.#repeat(node.part, node.min, node.max)
      default:
        return EMPTY
    }
  }

  #addPosition(source: string): number {
    if (this.takes.length >= MAX_POSITIONS) throw new PatternTooLarge()
    let mask = this.#masks.get(source)
    if (mask === undefined) this.#masks.set(source, (mask = maskOf(source)))
    this.next.push(new Map())
    return this.takes.push(mask) - 1
  }

  #link(from: PositionWays, to: PositionWays): void {
    for (const [last, ways] of from) {
      const next = this.next[last]
      if (next) addWays(next, to, ways)
    }
  }

  #join(a: Fragment, b: Fragment): Fragment {
    this.#link(a.last, b.first)
    const [first, last] = [new Map(a.first), new Map(b.last)]
    if (a.empty > 0) addWays(first, b.first, a.empty)
    if (b.empty > 0) addWays(last, a.last, b.empty)
    return { empty: Math.min(2, a.empty * b.empty), first, last }
  }

  #repeat(part: PatternNode, min: number, max: number): Fragment {
    if (max === 0) return EMPTY
    if (max > 1 && !isFewCopies(part, max)) {
      const loop = this.build(part)
      this.#link(loop.last, loop.first)
      return min === 0 ? { ...loop, empty: 1 } : loop
    }
    let done = EMPTY
    for (let copy = 0; copy < min; copy++) done = this.#join(done, this.build(part))
    // Optional copies are one inside the other: a{0,2} is (a(a)?)?, in which no text is read in two ways.
    let rest: Fragment | undefined
    for (let copy = min; copy < max; copy++) {
      const own = this.build(part)
      rest = { ...(rest ? this.#join(own, rest) : own), empty: 1 }
    }
    return rest ? this.#join(done, rest) : done
  }
}

const EMPTY: Fragment = { empty: 1, first: new Map(), last: new Map() }

/** Adds the ways of others, each reached in `count` ways. */
function addWays(to: PositionWays, others: PositionWays, count: number): void {
  for (const [position, ways] of others) to.set(position, Math.min(2, (to.get(position) ?? 0) + ways * count))
}

/** A repetition that is written out. Of a part that is itself read in several ways, copies multiply: it counts as a loop. */
function isFewCopies(part: PatternNode, max: number): boolean {
  const inside = { repeats: false, choices: false }
  const visit = (node: PatternNode): void => {
    if (node.at === 'choice') inside.choices = true
    if (node.at === 'repeat' && node.min !== node.max) inside.repeats = true
    if (node.at === 'sequence' || node.at === 'choice') node.parts.forEach(visit)
    if (node.at === 'repeat') visit(node.part)
  }
  visit(part)
  return !inside.repeats && max <= (inside.choices ? 4 : MAX_COPIES)
}

/** Some code points of each kind beyond ASCII. */
const BEYOND_ASCII = [
  0x85, 0xa0, 0xaa, 0xb5, 0xc0, 0xd7, 0xdf, 0xe9, 0x100, 0x130, 0x17f, 0x2b0, 0x301, 0x3a9, 0x430, 0x5d0, 0x627, 0x660,
  0x905, 0x966, 0x1680, 0x2003, 0x2014, 0x2028, 0x20ac, 0x2160, 0x3042, 0x4e2d, 0xac00, 0xe000, 0xfeff, 0xfffd, 0x1d7d8,
  0x1f600, 0x20000, 0x10ffff,
]

let samples: readonly string[] | undefined

/** Code points that tell classes apart. */
const sampleTexts = (): readonly string[] =>
  (samples ??= [...Array.from({ length: 128 }, (_, code) => code), ...BEYOND_ASCII].map((code) =>
    String.fromCodePoint(code),
  ))

/** Stands for every code point that is none of the samples. */
const OTHER = 1n << BigInt(128 + BEYOND_ASCII.length)
const EVERYTHING = 2n * OTHER - 1n

function maskOf(source: string): bigint {
  const atom = new RegExp(`^(?:${source})$`, 'u')
  const mask = sampleTexts().reduce((bits, text, at) => (atom.test(text) ? bits | (1n << BigInt(at)) : bits), 0n)
  // What takes none of the samples may share what it takes with anything as rare.
  return mask === 0n ? OTHER : mask
}
