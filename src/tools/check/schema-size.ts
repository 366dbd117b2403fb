import { EXTERNAL_JSON, findExceededBound, isJsonObject } from '../../base/json/json.ts'
import { patternGrowth, type PatternGrowth } from '../../base/pattern/pattern-growth.ts'
import { resolveReference } from '../../base/json/resolve-pointer.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

/** Limits on a schema that is compiled. Source: docs/design/security.md#foreign-values */
const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 32
const MAX_NODES = 2000
const MAX_ENUM = 1000

const TOO_DEEP = `the schema is nested deeper than ${MAX_DEPTH}`
const TOO_MANY_NODES = `the schema has more than ${MAX_NODES} nodes, references followed`

/** Keywords under which a value is data, not schema. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'required', 'type', '$vocabulary', 'dependentRequired'])
/** Keywords whose members are named by the author, so that a member name is not a keyword. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose schemas apply to the same value as the schema that contains them. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'])

/** The cost of a check against a schema. */
export interface SchemaSize {
  /** Nodes along every path, with `$ref` followed, plus entries of their lists: the work per part of a value. */
  readonly work: number
  /** True when nodes do not bound the work: the schema is recursive, or has references that only the compiler resolves. */
  readonly recursive: boolean
  /** How the time of matching a string grows, the worst of all patterns and formats; undefined without any. */
  readonly growth: PatternGrowth | undefined
}

export interface SchemaProblem {
  readonly problem: string
  /** `reference`: caused by where a `$ref` leads; `outside`: a `$ref` leads to another document. */
  readonly about: 'size' | 'reference' | 'outside'
  /** The `$ref`s that lead to the problem, outermost first. */
  readonly refs: readonly string[]
}

/** The worst formats are checked in quadratic time. */
const FORMAT_GROWTH: PatternGrowth = { degree: 2, reach: Infinity }

/** Measures the cost of a check against the schema, or returns why the schema must not be used. */
export function measureSchema(schema: JsonSchema): SchemaSize | SchemaProblem {
  // A deeper schema would overflow the stack when it is serialized or walked.
  if (findExceededBound(schema, { ...EXTERNAL_JSON, maxValues: Infinity }) !== undefined)
    return { problem: TOO_DEEP, about: 'size', refs: [] }
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES)
    return { problem: `the schema is larger than ${MAX_BYTES} bytes`, about: 'size', refs: [] }
  return new SchemaWalk(schema).measure()
}

/** The path on which a node was reached. */
interface NodePath {
  readonly depth: number
  readonly refs: readonly string[]
  /** Schemas that contain it, through references too. */
  readonly ancestors: readonly unknown[]
  /** Ancestors that apply to the same value. */
  readonly sameValue: readonly unknown[]
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
    this.#visit(this.#root, { depth: 0, refs: [], ancestors: [], sameValue: [] })
    return this.#problem ?? { work: this.#nodes + this.#entries, recursive: this.#recursive, growth: this.#growth }
  }

  #visit(value: unknown, path: NodePath): void {
    if (this.#problem) return
    if (Array.isArray(value)) return value.forEach((each) => this.#visit(each, path))
    if (!isJsonObject(value)) return
    if (path.depth > MAX_DEPTH) return this.#refuse('size', TOO_DEEP)
    if (++this.#nodes > MAX_NODES)
      return this.#refuse(path.refs.length > 0 ? 'reference' : 'size', TOO_MANY_NODES, path.refs)
    this.#countKeywords(value, path)
    const inside: NodePath = {
      ...path,
      ancestors: [...path.ancestors, value],
      sameValue: [...path.sameValue, value],
    }
    if (typeof value['$ref'] === 'string') this.#follow(value['$ref'], inside)
    for (const [key, each] of Object.entries(value)) {
      // Definitions are counted where a reference uses them.
      if (DATA.has(key) || key === '$defs' || key === 'definitions') continue
      const next: NodePath = { ...inside, depth: path.depth + 1, sameValue: IN_PLACE.has(key) ? inside.sameValue : [] }
      if (NAMED.has(key) && isJsonObject(each)) for (const named of Object.values(each)) this.#visit(named, next)
      else this.#visit(each, next)
    }
  }

  #countKeywords(node: Readonly<Record<string, unknown>>, { depth }: NodePath): void {
    const { enum: values, required, pattern, format, patternProperties } = node
    if (Array.isArray(values)) {
      if (values.length > MAX_ENUM) this.#refuse('size', `an enum has more than ${MAX_ENUM} values`)
      this.#entries += values.length
    }
    if (Array.isArray(required)) this.#entries += required.length
    // Each item is serialized, which costs more than checking it.
    if (node['uniqueItems'] === true) this.#entries += 10
    if (typeof pattern === 'string') this.#match(patternGrowth(pattern))
    if (typeof format === 'string') this.#match(FORMAT_GROWTH)
    if (isJsonObject(patternProperties))
      for (const name of Object.keys(patternProperties)) this.#match(patternGrowth(name))
    // Only the compiler resolves these references.
    if ('$dynamicRef' in node || '$recursiveRef' in node || (depth > 0 && '$id' in node)) this.#recursive = true
  }

  #match(growth: PatternGrowth): void {
    const { degree = Infinity, reach } = this.#growth ?? { degree: 1, reach: 0 }
    this.#growth = { degree: Math.max(degree, growth.degree ?? Infinity), reach: Math.max(reach, growth.reach) }
  }

  #follow(ref: string, path: NodePath): void {
    if (!ref.startsWith('#')) return this.#refuse('outside', `$ref "${ref}" leaves the schema`)
    const target = resolveReference(this.#root, ref)
    const refs = [...path.refs, ref]
    if (typeof target === 'object' && path.sameValue.includes(target))
      return this.#refuse('reference', `its references lead back to themselves: ${refs.join(' > ')}`, refs)
    // Anchors and unknown pointers are left to the compiler.
    if (target === undefined || (typeof target === 'object' && path.ancestors.includes(target)))
      return void (this.#recursive = true)
    // Depth counts within the text only; along references the number of nodes is the limit.
    this.#visit(target, { ...path, depth: 0, refs })
  }

  #refuse(about: SchemaProblem['about'], problem: string, refs: readonly string[] = []): void {
    this.#problem ??= { problem, about, refs }
  }
}
