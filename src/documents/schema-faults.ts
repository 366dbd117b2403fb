/** What makes a JSON Schema invalid. */
import type { ErrorObject } from 'ajv'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { metaSchema } from './generated/validators.js'
import { isPlainSchema } from './plain-schema.ts'
import { inWords, pointerTo } from './pointer.ts'
import { nearest } from './suggest.ts'
import { valueAt } from './shape.ts'

export interface SchemaFault {
  /** Into the schema. */
  readonly pointer: string
  readonly message: string
}

export function schemaFaults(schema: JsonObject | boolean): SchemaFault[] {
  const valid = isPlainSchema(schema) || metaSchema(schema)
  const errors = valid ? [] : (metaSchema.errors ?? [])
  const first = new Map<string, ErrorObject>()
  for (const error of errors) {
    // The words that are allowed say more than that something of another type is allowed too.
    const before = first.get(error.instancePath)
    if (before === undefined || (before.keyword !== 'enum' && error.keyword === 'enum'))
      first.set(error.instancePath, error)
  }
  const faults = [...first.values()]
    .filter(isOutermost(first))
    .map((error) => ({ pointer: error.instancePath, message: sayWhat(schema, error) }))
  return valid ? [...localRefs(schema), ...patterns(schema)] : faults
}

/** What is wrong with a member of a list of types is that there is such a list. */
const isOutermost =
  (all: ReadonlyMap<string, ErrorObject>) =>
  ({ instancePath }: ErrorObject): boolean =>
    !(/\/type\/\d+$/.test(instancePath) && all.has(instancePath.slice(0, instancePath.lastIndexOf('/'))))

function sayWhat(schema: JsonObject | boolean, error: ErrorObject): string {
  const found = valueAt(schema, error.instancePath)
  const name = inWords(error.instancePath) || 'The schema'
  if (error.keyword === 'enum') {
    const allowed = (error.params['allowedValues'] as JsonValue[]).map(String)
    const near = typeof found === 'string' ? nearest(found, allowed) : undefined
    return `${name} must be one of ${allowed.join(', ')}, but is ${JSON.stringify(found)}.${near === undefined ? '' : ` Did you mean "${near}"?`}`
  }
  return `${name} ${error.message ?? 'is not valid'}.`
}

/** `#/…` references that lead nowhere. */
function localRefs(schema: JsonObject | boolean): SchemaFault[] {
  return keywords(schema, '$ref').flatMap(({ pointer, value }) =>
    typeof value === 'string' && /^#(?:\/|$)/.test(value) && valueAt(schema, decodeURI(value.slice(1))) === undefined
      ? [{ pointer, message: `"${value}" leads nowhere in this schema.` }]
      : [],
  )
}

function patterns(schema: JsonObject | boolean): SchemaFault[] {
  return keywords(schema, 'pattern').flatMap(({ pointer, value }) => {
    try {
      // JSON Schema patterns are read with the `u` flag.
      if (typeof value === 'string') void new RegExp(value, 'u')
      return []
    } catch (error) {
      return [
        {
          pointer,
          message: `This pattern cannot be read: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}.`,
        },
      ]
    }
  })
}

/** Keywords whose members are named by the author: a property may be called `pattern`. */
const NAMING = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'required'])

export interface KeywordUse {
  readonly pointer: string
  readonly value: JsonValue
  /** The schema in which it stands. */
  readonly holder: JsonObject
}

/** Every use of a keyword in a schema, at whatever depth. */
export function keywords(schema: JsonObject | boolean, keyword: string): readonly KeywordUse[] {
  return isJsonObject(schema) ? (keywordsOf(schema).get(keyword) ?? []) : []
}

/** True for a schema that uses one of the keywords. */
export function hasKeyword(schema: JsonObject | boolean, some: readonly string[]): boolean {
  if (!isJsonObject(schema)) return false
  const known = keywordsOf(schema)
  return some.some((keyword) => known.has(keyword))
}

function keywordsOf(schema: JsonObject): ReadonlyMap<string, readonly KeywordUse[]> {
  const before = indices.get(schema)
  if (before !== undefined) return before
  const known = indexOf(schema)
  indices.set(schema, known)
  return known
}

/** Many rules ask about each schema. */
const indices = new WeakMap<JsonObject, ReadonlyMap<string, readonly KeywordUse[]>>()

function indexOf(schema: JsonObject): ReadonlyMap<string, readonly KeywordUse[]> {
  const uses = new Map<string, KeywordUse[]>()
  const visit = (value: JsonValue, above: Step | undefined): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach((each, index) => visit(each, new Step(above, index)))
    for (const key of Object.keys(value)) {
      const each = value[key]!
      const use = new Use(above, key, each, value)
      const before = uses.get(key)
      if (before === undefined) uses.set(key, [use])
      else before.push(use)
      if (typeof each !== 'object' || each === null || VALUES.has(key)) continue
      if (NAMING.has(key) && isJsonObject(each))
        for (const name of Object.keys(each)) visit(each[name]!, new Step(use, name))
      else visit(each, use)
    }
  }
  visit(schema, undefined)
  return uses
}

/** A way into a schema, which is put into words when something is wrong there. */
class Step {
  readonly #above: Step | undefined
  readonly #key: string | number

  constructor(above: Step | undefined, key: string | number) {
    this.#above = above
    this.#key = key
  }

  get pointer(): string {
    return pointerTo(this.#above?.pointer ?? '', this.#key)
  }
}

class Use extends Step implements KeywordUse {
  readonly value: JsonValue
  readonly holder: JsonObject

  constructor(above: Step | undefined, key: string, value: JsonValue, holder: JsonObject) {
    super(above, key)
    this.value = value
    this.holder = holder
  }
}
