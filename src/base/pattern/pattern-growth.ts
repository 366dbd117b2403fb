/**
 * How the time of a backtracking match grows with the length of the text. Source: docs/design/security.md#foreign-values
 *
 * A match that fails tries every way in which the pattern can read the text, so the time grows with the number of ways. They
 * are counted on the position automaton: two ways around one loop make them exponential, loops in a row that read the same text
 * make them polynomial.
 */
import { AmbiguitySearch } from './ambiguity.ts'
import { parsePattern, type PatternNode } from './pattern-syntax.ts'
import { PatternTooLarge, PositionAutomaton } from './position-automaton.ts'

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
    if (error instanceof PatternTooLarge) return UNKNOWN
    throw error
  }
}

/** The pattern and what its lookarounds try, each a match of its own. */
function bodies(tree: PatternNode): { body: PatternNode; repeated: boolean }[] {
  const isRepeated = !isAnchored(tree)
  const found = [{ body: tree, repeated: isRepeated }]
  const visit = (node: PatternNode, repeated: boolean): void => {
    if (node.at === 'look') found.push({ body: node.part, repeated })
    if (node.at === 'sequence' || node.at === 'choice') for (const part of node.parts) visit(part, repeated)
    if (node.at === 'repeat' || node.at === 'look') visit(node.part, repeated || node.at === 'repeat')
  }
  visit(tree, isRepeated)
  return found
}

const isAnchored = (node: PatternNode): boolean =>
  node.at === 'start' ||
  (node.at === 'sequence' && node.parts.slice(0, 1).some(isAnchored)) ||
  (node.at === 'choice' && node.parts.every(isAnchored))

const endsAtEnd = (node: PatternNode): boolean =>
  node.at === 'end' ||
  (node.at === 'sequence' && node.parts.slice(-1).some(endsAtEnd)) ||
  (node.at === 'choice' && node.parts.every(endsAtEnd))

function widthOf(node: PatternNode): number {
  if (node.at === 'atom') return 1
  if (node.at === 'sequence') return node.parts.reduce((sum, part) => sum + widthOf(part), 0)
  if (node.at === 'choice') return Math.max(...node.parts.map(widthOf))
  if (node.at === 'look') return Infinity
  if (node.at !== 'repeat') return 0
  return node.max === 0 ? 0 : widthOf(node.part) * node.max || 0
}

/** @param repeated true when the match is begun at every place of the text */
function degreeOf(tree: PatternNode, repeated: boolean): number {
  const automaton = new PositionAutomaton()
  const whole = automaton.build(tree)
  const start = repeated ? automaton.addStartAnywhere(whole.first) : undefined
  // A match that reaches one of these has succeeded, so no other place of the text is tried.
  const alternatives = tree.at === 'choice' ? tree.parts : [tree]
  const accepting: ReadonlySet<number> = alternatives.some(endsAtEnd) ? NONE : new Set(whole.last.keys())
  const search = new AmbiguitySearch(automaton.next, automaton.takes)
  const loops = search.loops()
  if (loops.some((loop) => search.hasTwoWays(loop))) return Infinity
  // The most loops in a row that read the same text.
  const chains = new Map<readonly number[], number>()
  const chainFrom = (loop: readonly number[]): number => {
    const known = chains.get(loop)
    if (known !== undefined) return known
    const avoid = loop[0] === start ? accepting : NONE
    const after = loops.filter((to) => to !== loop && search.readsTheSame(loop, to, avoid))
    const length = 1 + Math.max(0, ...after.map(chainFrom))
    chains.set(loop, length)
    return length
  }
  return Math.max(1, ...loops.map(chainFrom))
}

const NONE: ReadonlySet<number> = new Set()
