/** Which rules are called for a document: most have nothing to say to most documents. */
import type { JsonObject, JsonValue } from '../base/json.ts'
import { KINDS, type Kind } from '../spec/document.ts'
import type { Document } from './document.ts'
import type { Project } from './rule.ts'

/** Source: `Rule`, of which these are some fields. */
export interface Concern {
  readonly kinds?: readonly Kind[] | undefined
  readonly needs?: readonly string[] | undefined
  readonly lacks?: readonly string[] | undefined
  readonly given?: ((project: Project) => boolean) | undefined
}

/**
 * What concerns a document of a project, in the given order: what the project gives something to say, what is for the document's
 * kind, and finds there what it needs and nothing that it lacks.
 */
export function createDispatch<C extends Concern>(
  all: readonly C[],
): (project: Project) => (document: Document) => readonly C[] {
  const conditional = all.filter(({ given }) => given !== undefined)
  // The same hold in most parts of a project.
  const known = new Map<string, (document: Document) => readonly C[]>()
  return (project) => {
    const idle = conditional.filter(({ given }) => !given!(project))
    const key = idle.map((each) => conditional.indexOf(each)).join(' ')
    let concerning = known.get(key)
    if (concerning === undefined) {
      concerning = createChoices(all.filter((each) => !idle.includes(each)))
      known.set(key, concerning)
    }
    return concerning
  }
}

function createChoices<C extends Concern>(all: readonly C[]): (document: Document) => readonly C[] {
  const byKind = new Map(
    KINDS.map((kind) => [kind, createChoice(all.filter(({ kinds }) => kinds?.includes(kind) ?? true))]),
  )
  return ({ kind, value }) => byKind.get(kind)!(value)
}

/** The same for documents of one kind. */
function createChoice<C extends Concern>(all: readonly C[]): (value: JsonValue) => readonly C[] {
  const asked = [...new Set(all.flatMap(({ needs = [], lacks = [] }) => [...needs, ...lacks]))]
  const start = createStep()
  for (const [index, each] of asked.entries()) addEnd(start, each, index)
  // Documents that have the same of it are concerned by the same, and most of a project have.
  const known = new Map<string | number | undefined, readonly C[]>()
  return (value) => {
    const found = [0]
    for (let at = BITS; at < asked.length; at += BITS) found.push(0)
    look(start, value, found)
    const key = found.length === 1 ? found[0] : found.join(' ')
    let concerning = known.get(key)
    if (concerning === undefined) {
      const isFound = (each: string): boolean => {
        const { at, bit } = markOf(asked.indexOf(each))
        return (found[at]! & bit) !== 0
      }
      concerning = all.filter(({ needs, lacks }) => (needs?.some(isFound) ?? true) && !lacks?.some(isFound))
      known.set(key, concerning)
    }
    return concerning
  }
}

/** A place to which some of the paths lead: all are looked for in one walk. */
interface Step extends Mark {
  /** What is asked for below, by parallel lists: keys, and where they lead. */
  readonly keys: string[]
  readonly below: Step[]
  /** Where any member leads. */
  each: Step | undefined
  /** What asks for one value here. */
  readonly values: Map<JsonValue, Mark>
  /** True where anything is asked for below, or of the value. */
  isDeep: boolean
}

/** A member of a set of small numbers, which is kept as bits, so many in each of a few integers. */
interface Mark {
  /** Index of the integer. */
  at: number
  bit: number
}

const BITS = 30

const markOf = (number: number): Mark => ({ at: Math.floor(number / BITS), bit: 1 << (number % BITS) })

/** Nothing ends here yet: no bit is set where a walk comes by. */
const createStep = (): Step => ({
  keys: [],
  below: [],
  each: undefined,
  values: new Map(),
  isDeep: false,
  at: 0,
  bit: 0,
})

/** @param asked a path, or one with the value that is to stand there: `output.strict: true` */
function addEnd(start: Step, asked: string, number: number): void {
  const [path = '', value] = asked.split(': ')
  const step = stepTo(start, path)
  const mark = markOf(number)
  if (value === undefined) {
    step.at = mark.at
    step.bit = mark.bit
  } else {
    step.values.set(value === 'true' || value, mark)
    step.isDeep = true
  }
}

/** Where a path ends. */
function stepTo(start: Step, path: string): Step {
  let step = start
  for (const segment of path.split('.')) {
    step.isDeep = true
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

/** Adds what leads to something, as `Spans.at` reads them. */
function look(step: Step, value: JsonValue, found: number[]): void {
  found[step.at]! |= step.bit
  if (!step.isDeep) return
  const { keys, below, each, values } = step
  if (values.size > 0) {
    const mark = values.get(value)
    if (mark !== undefined) found[mark.at]! |= mark.bit
  }
  if (typeof value !== 'object' || value === null) return
  for (let at = 0; at < keys.length; at++) {
    const member = (value as JsonObject)[keys[at]!]
    if (member !== undefined) look(below[at]!, member, found)
  }
  if (each === undefined) return
  if (Array.isArray(value)) for (let at = 0; at < value.length; at++) look(each, value[at]!, found)
  else for (const key in value) look(each, (value as JsonObject)[key]!, found)
}
