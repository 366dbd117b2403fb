import { isJsonObject, isTooDeep } from '../base/json.ts'
import { patternGrowth, type PatternGrowth } from '../base/pattern-growth.ts'
import type { JsonSchema } from '../spec/snapshot.ts'

/** Bounds of a schema that is compiled. Source: security, S12. */
const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 32
const MAX_NODES = 2000
const MAX_ENUM = 1000

const TOO_DEEP = `the schema is nested deeper than ${MAX_DEPTH}`
const TOO_MANY_NODES = `the schema has more than ${MAX_NODES} nodes, references followed`

/** Keywords under which a value is data, not schema. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'required', 'type', '$vocabulary', 'dependentRequired'])
/** Keywords whose members are named by the author, so a name is no keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose schemas look at the same value as the schema in which they stand. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'])

/** What a check against a schema may cost. */
export interface SchemaSize {
  /** Nodes along every path, `$ref` followed, and entries of their lists: the work on one value of one node. */
  readonly work: number
  /** True when the work is not bounded by nodes alone: the schema refers to itself, or in a way that only the compiler follows. */
  readonly recursive: boolean
  /** How matching a string may grow, the worst of all patterns and formats; undefined where there are none. */
  readonly growth: PatternGrowth | undefined
}

export interface SchemaProblem {
  readonly problem: string
  /** `reference`: of a `$ref` and where it leads; `outside`: it leads to another document. */
  readonly about: 'size' | 'reference' | 'outside'
  /** The `$ref`s that lead there, outermost first. */
  readonly refs: readonly string[]
}

/** A format is checked with a pattern or code of its own, some of them quadratic. */
const FORMAT_GROWTH: PatternGrowth = { degree: 2, reach: Infinity }

/** What a check against the schema may cost, or why the schema is not used for any. */
export function measureSchema(schema: JsonSchema): SchemaSize | SchemaProblem {
  // Beyond that nothing could write it, or walk it.
  if (isTooDeep(schema)) return { problem: TOO_DEEP, about: 'size', refs: [] }
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES)
    return { problem: `the schema is larger than ${MAX_BYTES} bytes`, about: 'size', refs: [] }
  return new SchemaWalk(schema).measure()
}

/** How a node was reached. */
interface Way {
  readonly depth: number
  readonly refs: readonly string[]
  /** Schemas around it, through references. */
  readonly above: readonly unknown[]
  /** Those of them that look at the same value. */
  readonly here: readonly unknown[]
}

class SchemaWalk {
  readonly #root: JsonSchema
  #nodes = 0
  #entries = 0
  #recursive = false
  #growth: PatternGrowth | undefined
  #problem: SchemaProblem | undefined

  constructor(root: JsonSchema) {
    this.#root = root
  }

  measure(): SchemaSize | SchemaProblem {
    this.#visit(this.#root, { depth: 0, refs: [], above: [], here: [] })
    return this.#problem ?? { work: this.#nodes + this.#entries, recursive: this.#recursive, growth: this.#growth }
  }

  #visit(value: unknown, way: Way): void {
    if (this.#problem) return
    if (Array.isArray(value)) return value.forEach((each) => this.#visit(each, way))
    if (!isJsonObject(value)) return
    if (way.depth > MAX_DEPTH) return this.#refuse('size', TOO_DEEP)
    if (++this.#nodes > MAX_NODES)
      return this.#refuse(way.refs.length > 0 ? 'reference' : 'size', TOO_MANY_NODES, way.refs)
    this.#note(value, way)
    const inside: Way = { ...way, above: [...way.above, value], here: [...way.here, value] }
    if (typeof value['$ref'] === 'string') this.#follow(value['$ref'], inside)
    for (const [key, each] of Object.entries(value)) {
      // Definitions are counted where something refers to them.
      if (DATA.has(key) || key === '$defs' || key === 'definitions') continue
      const next: Way = { ...inside, depth: way.depth + 1, here: IN_PLACE.has(key) ? inside.here : [] }
      if (NAMED.has(key) && isJsonObject(each)) for (const named of Object.values(each)) this.#visit(named, next)
      else this.#visit(each, next)
    }
  }

  #note(node: Readonly<Record<string, unknown>>, { depth }: Way): void {
    const { enum: values, required, pattern, format, patternProperties } = node
    if (Array.isArray(values)) {
      if (values.length > MAX_ENUM) this.#refuse('size', `an enum has more than ${MAX_ENUM} values`)
      this.#entries += values.length
    }
    if (Array.isArray(required)) this.#entries += required.length
    // The text of each item is written, which costs more than to look at it.
    if (node['uniqueItems'] === true) this.#entries += 10
    if (typeof pattern === 'string') this.#match(patternGrowth(pattern))
    if (typeof format === 'string') this.#match(FORMAT_GROWTH)
    if (isJsonObject(patternProperties))
      for (const name of Object.keys(patternProperties)) this.#match(patternGrowth(name))
    // References are not followed here in the way the compiler does.
    if ('$dynamicRef' in node || '$recursiveRef' in node || (depth > 0 && '$id' in node)) this.#recursive = true
  }

  #match(growth: PatternGrowth): void {
    const { degree = Infinity, reach } = this.#growth ?? { degree: 1, reach: 0 }
    this.#growth = { degree: Math.max(degree, growth.degree ?? Infinity), reach: Math.max(reach, growth.reach) }
  }

  #follow(ref: string, way: Way): void {
    if (!ref.startsWith('#')) return this.#refuse('outside', `$ref "${ref}" leaves the schema`)
    const target = resolve(this.#root, ref)
    const refs = [...way.refs, ref]
    if (typeof target === 'object' && way.here.includes(target))
      return this.#refuse('reference', `its references lead back to themselves: ${refs.join(' > ')}`, refs)
    // An anchor or an unknown pointer is left to the compiler.
    if (target === undefined || (typeof target === 'object' && way.above.includes(target)))
      return void (this.#recursive = true)
    // Depth is that of the text: along references the number of nodes is the bound.
    this.#visit(target, { ...way, depth: 0, refs })
  }

  #refuse(about: SchemaProblem['about'], problem: string, refs: readonly string[] = []): void {
    this.#problem ??= { problem, about, refs }
  }
}

/** What a `#/…` pointer names inside the schema. */
function resolve(schema: unknown, ref: string): unknown {
  if (ref === '#') return schema
  if (!ref.startsWith('#/')) return undefined
  let here = schema
  for (const raw of ref.slice(2).split('/')) {
    const key = unescape(raw)
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isJsonObject(here) && Object.hasOwn(here, key)) here = here[key]
    else return undefined
  }
  return here
}

function unescape(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
