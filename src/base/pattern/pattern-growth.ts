/**
 * How the time of a backtracking match grows with the length of the text. Source: security, S11.
 *
 * A match that fails tries every way in which the pattern can read the text, so the time grows with the number of ways. They
 * are counted on the position automaton (Glushkov): two ways around one loop make them exponential (EDA), two loops in a row
 * that read the same text make them polynomial (IDA). Weber and Seidl, "On the degree of ambiguity of finite automata".
 */
import { parsePattern, type PatternNode } from './pattern-syntax.ts'

export interface PatternGrowth {
  /** 1 = linear, 2 = quadratic and so on, Infinity = exponential; undefined = not known. */
  readonly degree: number | undefined
  /** The longest text that the pattern reads before it gives up, in code points. */
  readonly reach: number
}

const UNKNOWN: PatternGrowth = { degree: undefined, reach: Infinity }
const cache = new Map<string, PatternGrowth>()
const MAX_CACHED = 1000

export function patternGrowth(pattern: string): PatternGrowth {
  const known = cache.get(pattern)
  if (known) return known
  if (cache.size >= MAX_CACHED) cache.clear()
  const growth = growthOf(pattern)
  cache.set(pattern, growth)
  return growth
}

/**
 * Steps that a match of a text may take, up to a constant.
 * @param length of the longest text, in code points
 */
export function patternSteps({ degree = Infinity, reach }: PatternGrowth, length: number): number {
  if (degree === 1) return length
  const read = Math.min(length, reach)
  return length + (degree === Infinity ? 2 ** read : read ** degree)
}

function growthOf(pattern: string): PatternGrowth {
  const tree = parsePattern(pattern)
  if (!tree) return UNKNOWN
  try {
    const degree = Math.max(...bodies(tree).map(({ body, repeated }) => degreeOf(body, repeated)))
    return { degree, reach: isAnchored(tree) ? widthOf(tree) : Infinity }
  } catch (error) {
    if (error instanceof TooLarge) return UNKNOWN
    throw error
  }
}

/** The pattern and what its lookarounds try, each a match of its own. */
function bodies(tree: PatternNode): { body: PatternNode; repeated: boolean }[] {
  const found = [{ body: tree, repeated: !isAnchored(tree) }]
  const visit = (node: PatternNode, repeated: boolean): void => {
    if (node.at === 'look') found.push({ body: node.part, repeated })
    if (node.at === 'sequence' || node.at === 'choice') for (const part of node.parts) visit(part, repeated)
    if (node.at === 'repeat' || node.at === 'look') visit(node.part, repeated || node.at === 'repeat')
  }
  visit(tree, found[0]!.repeated)
  return found
}

const isAnchored = (node: PatternNode): boolean =>
  node.at === 'start' ||
  (node.at === 'sequence' && node.parts.length > 0 && isAnchored(node.parts[0]!)) ||
  (node.at === 'choice' && node.parts.every(isAnchored))

const endsAtEnd = (node: PatternNode): boolean =>
  node.at === 'end' ||
  (node.at === 'sequence' && node.parts.length > 0 && endsAtEnd(node.parts.at(-1)!)) ||
  (node.at === 'choice' && node.parts.every(endsAtEnd))

function widthOf(node: PatternNode): number {
  if (node.at === 'atom') return 1
  if (node.at === 'sequence') return node.parts.reduce((sum, part) => sum + widthOf(part), 0)
  if (node.at === 'choice') return Math.max(...node.parts.map(widthOf))
  if (node.at === 'look') return Infinity
  if (node.at !== 'repeat') return 0
  return node.max === 0 ? 0 : widthOf(node.part) * node.max || 0
}

/** Work on one pattern, in pairs and triples of positions looked at: some milliseconds. */
const MAX_STEPS = 200_000
const MAX_POSITIONS = 400
/** More repetitions than that are taken for a loop. */
const MAX_COPIES = 16

class TooLarge extends Error {}

/** How often, as far as it matters: never, once, or in several ways. */
type Ways = Map<number, number>
const add = (ways: Ways, position: number, count: number): void =>
  void ways.set(position, Math.min(2, (ways.get(position) ?? 0) + count))

/** A part of the automaton. */
interface Fragment {
  /** Ways to match nothing. */
  readonly empty: number
  /** Positions that may come first and last. */
  readonly first: Ways
  readonly last: Ways
}

class Automaton {
  /** Code points that a position takes, of the samples. */
  readonly takes: bigint[] = []
  readonly next: Ways[] = []
  readonly #atoms = new Map<string, bigint>()

  position(source: string): number {
    if (this.takes.length >= MAX_POSITIONS) throw new TooLarge()
    let mask = this.#atoms.get(source)
    if (mask === undefined) this.#atoms.set(source, (mask = maskOf(source)))
    this.next.push(new Map())
    return this.takes.push(mask) - 1
  }

  link(from: Ways, to: Ways): void {
    for (const [last, a] of from) for (const [first, b] of to) add(this.next[last]!, first, a * b)
  }

  build(node: PatternNode): Fragment {
    switch (node.at) {
      case 'atom': {
        const position = this.position(node.source)
        return { empty: 0, first: new Map([[position, 1]]), last: new Map([[position, 1]]) }
      }
      case 'sequence':
        return node.parts.reduce((done: Fragment, part) => this.#join(done, this.build(part)), EMPTY)
      case 'choice': {
        const parts = node.parts.map((part) => this.build(part))
        const [first, last]: [Ways, Ways] = [new Map(), new Map()]
        for (const part of parts) merge(first, part.first, 1)
        for (const part of parts) merge(last, part.last, 1)
        return {
          empty: Math.min(
            2,
            parts.reduce((sum, { empty }) => sum + empty, 0),
          ),
          first,
          last,
        }
      }
      case 'repeat':
        return this.#repeat(node.part, node.min, node.max)
      default:
        return EMPTY
    }
  }

  #join(a: Fragment, b: Fragment): Fragment {
    this.link(a.last, b.first)
    const [first, last] = [new Map(a.first), new Map(b.last)]
    if (a.empty > 0) merge(first, b.first, a.empty)
    if (b.empty > 0) merge(last, a.last, b.empty)
    return { empty: Math.min(2, a.empty * b.empty), first, last }
  }

  #repeat(part: PatternNode, min: number, max: number): Fragment {
    if (max === 0) return EMPTY
    if (max > 1 && !isFewCopies(part, max)) {
      const loop = this.build(part)
      this.link(loop.last, loop.first)
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

function merge(into: Ways, from: Ways, count: number): void {
  for (const [position, ways] of from) add(into, position, ways * count)
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

/** @param repeated true when the match is begun at every place of the text */
function degreeOf(tree: PatternNode, repeated: boolean): number {
  const automaton = new Automaton()
  const whole = automaton.build(tree)
  const { next, takes } = automaton
  // A match that reaches one of these has succeeded, so no other place of the text is tried.
  const alternatives = tree.at === 'choice' ? tree.parts : [tree]
  const accepting: ReadonlySet<number> = alternatives.some(endsAtEnd) ? NONE : new Set(whole.last.keys())
  let search: number | undefined
  if (repeated) {
    search = takes.push(EVERYTHING) - 1
    next.push(new Map([[search, 1], ...whole.first]))
  }
  const walk = new Walk(next, takes)
  const loops = walk.loops()
  if (loops.some((loop) => walk.hasTwoWays(loop))) return Infinity
  const longest = new Map<readonly number[], number>()
  const chain = (from: readonly number[]): number => {
    const known = longest.get(from)
    if (known !== undefined) return known
    const avoid = from[0] === search ? accepting : NONE
    const after = loops.filter((to) => to !== from && walk.readsTheSame(from, to, avoid))
    const length = 1 + Math.max(0, ...after.map(chain))
    longest.set(from, length)
    return length
  }
  return Math.max(1, ...loops.map(chain))
}

const NONE: ReadonlySet<number> = new Set()

/** Walks over states that are one, two or three positions at a time, each of which takes the same text. */
class Walk {
  readonly #next: readonly Ways[]
  readonly #takes: readonly bigint[]
  #steps = 0

  constructor(next: readonly Ways[], takes: readonly bigint[]) {
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
      const loop = [...from].filter((other) => reach[other]!.has(position))
      for (const each of loop) done.add(each)
      loops.push(loop)
    }
    return loops
  }

  #reachable(position: number): Set<number> {
    const found = new Set<number>()
    const open = [position]
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const to of this.#next[at]!.keys()) {
        this.#count()
        if (!found.has(to)) open.push(to)
        found.add(to)
      }
    return found
  }

  /** True when some text leads from a position of the loop back to it in two ways. */
  hasTwoWays(loop: readonly number[]): boolean {
    const inside = new Set(loop)
    for (const from of loop) for (const [to, ways] of this.#next[from]!) if (ways > 1 && inside.has(to)) return true
    const size = this.#next.length
    const before = new Map<number, number[]>()
    const seen = new Set(loop.map((position) => position * size + position))
    for (const pair of seen) {
      const [a, b] = [Math.floor(pair / size), pair % size]
      for (const x of this.#next[a]!.keys()) {
        if (!inside.has(x)) continue
        for (const y of this.#next[b]!.keys()) {
          this.#count()
          if (!inside.has(y) || (this.#takes[x]! & this.#takes[y]!) === 0n) continue
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
      for (const x of this.#next[a]!.keys()) {
        if (!inFirst.has(x)) continue
        for (const z of this.#next[c]!.keys()) {
          if (!inSecond.has(z) || avoid.has(z)) continue
          const both = this.#takes[x]! & this.#takes[z]!
          if (both === 0n) continue
          for (const y of this.#next[b]!.keys()) {
            this.#count()
            if (avoid.has(y) || (both & this.#takes[y]!) === 0n) continue
            const to = (x * size + y) * size + z
            if (to === goal) return true
            seen.add(to)
          }
        }
      }
    }
    return false
  }

  #count(): void {
    if (++this.#steps > MAX_STEPS) throw new TooLarge()
  }
}
