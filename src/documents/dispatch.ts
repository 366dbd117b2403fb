/** Which rules are called for a document: most have nothing to say to most documents. */
import type { JsonObject, JsonValue } from '../base/json.ts'
import { KINDS, type Kind } from '../spec/document.ts'
import type { Document } from './document.ts'

/** Source: `Rule`, of which these are two fields. */
export interface Concern {
  readonly kinds?: readonly Kind[] | undefined
  readonly needs?: readonly string[] | undefined
}

/** What concerns a document, in the given order: what is for its kind and finds there one of the paths that it needs. */
export function createDispatch<C extends Concern>(all: readonly C[]): (document: Document) => readonly C[] {
  const byKind = new Map(
    KINDS.map((kind) => [kind, createChoice(all.filter(({ kinds }) => kinds?.includes(kind) ?? true))]),
  )
  return ({ kind, value }) => byKind.get(kind)!(value)
}

/** The same for documents of one kind. */
function createChoice<C extends Concern>(all: readonly C[]): (value: JsonValue) => readonly C[] {
  const paths = [...new Set(all.flatMap(({ needs = [] }) => needs))]
  const start = createStep()
  for (const [index, path] of paths.entries()) stepTo(start, path).end = index
  // Documents with the same paths are concerned by the same, and most of a project have.
  const known = new Map<string, readonly C[]>()
  return (value) => {
    const found: number[] = []
    for (let at = 0; at < paths.length; at += BITS) found.push(0)
    look(start, value, found)
    const key = found.join(' ')
    let concerning = known.get(key)
    if (concerning === undefined) {
      const isFound = (path: string): boolean => isIn(found, paths.indexOf(path))
      concerning = all.filter(({ needs }) => needs?.some(isFound) ?? true)
      known.set(key, concerning)
    }
    return concerning
  }
}

/** A place to which some of the paths lead: all are looked for in one walk. */
interface Step {
  /** What is asked for below, by parallel lists: keys, and where they lead. */
  readonly keys: string[]
  readonly below: Step[]
  /** Where any member leads. */
  each: Step | undefined
  /** Index of the path that ends here. */
  end: number
}

const createStep = (): Step => ({ keys: [], below: [], each: undefined, end: -1 })

/** Where a path ends. */
function stepTo(start: Step, path: string): Step {
  let step = start
  for (const segment of path.split('.')) {
    if (segment === '*') {
      step = step.each ??= createStep()
      continue
    }
    const known = step.keys.indexOf(segment)
    const at = known < 0 ? step.keys.push(segment) - 1 : known
    step = step.below[at] ??= createStep()
  }
  return step
}

/** Adds the paths that lead to something, as `Spans.at` reads them. */
function look({ keys, below, each, end }: Step, value: JsonValue, found: number[]): void {
  if (end >= 0) add(found, end)
  if (typeof value !== 'object' || value === null) return
  for (let at = 0; at < keys.length; at++) {
    const member = (value as JsonObject)[keys[at]!]
    if (member !== undefined) look(below[at]!, member, found)
  }
  if (each === undefined) return
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) look(each, value[at]!, found)
  else for (const key in value) look(each, (value as JsonObject)[key]!, found)
}

/** A set of small numbers is kept as bits, so many in each of a few integers. */
const BITS = 30

function add(set: number[], number: number): void {
  set[Math.floor(number / BITS)]! |= 1 << (number % BITS)
}

const isIn = (set: readonly number[], number: number): boolean =>
  (set[Math.floor(number / BITS)]! & (1 << (number % BITS))) !== 0
