/**
 * Schemas of OpenAPI 3.0 and 3.1 as JSON Schema by value: local references are replaced by what they lead to, cycles are cut, and the
 * result stays within the bounds of schemas that runs accept. Source: docs/design/command-line.md#imports
 */
import { shortenText } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { patternGrowth } from '../base/pattern/pattern-growth.ts'
import { targetOf, type OpenApiDocument } from './openapi-document.ts'
import { cleanForeignText } from './foreign-text.ts'
import { isSafeNumber } from '../base/json/exact-number.ts'

/** Told of what a schema loses. */
export type SchemaLossReporter = (what: string, authority?: boolean) => void

/** How much of the bounds of one tool's schema is left (`tools/schema-size.ts`: 64 KiB, 32 levels, 2,000 nodes). */
export interface SchemaRoom {
  readonly bytes: number
  readonly nodes: number
}

const MAX_ENUM = 200
/** Levels and characters of a description, tried until the schema is small enough. */
const ATTEMPTS = [
  [12, 300],
  [12, 80],
  [8, 80],
  [6, 80],
  [4, 80],
  [3, 80],
  [2, 80],
  [1, 80],
  [1, 0],
  [0, 80],
  [0, 0],
] as const

export function convertSchema(
  document: OpenApiDocument,
  schema: JsonValue | undefined,
  room: SchemaRoom,
  report: SchemaLossReporter,
): JsonObject {
  for (const [levels, textLength] of ATTEMPTS) {
    const losses: [string, boolean][] = []
    const bounds = { levels, textLength, nodes: room.nodes }
    const walk = new SchemaConversion(document, bounds, (what, authority = false) => losses.push([what, authority]))
    const converted = walk.convert(schema, 0, [])
    if (walk.nodes > room.nodes || Buffer.byteLength(JSON.stringify(converted)) > room.bytes) continue
    losses.forEach(([what, authority]) => report(what, authority))
    return isJsonObject(converted) ? converted : {}
  }
  report('the schema is too large and is left open', true)
  return {}
}

interface ConversionBounds {
  readonly levels: number
  readonly textLength: number
  readonly nodes: number
}

class SchemaConversion {
  nodes = 0
  readonly #document: OpenApiDocument
  readonly #bounds: ConversionBounds
  readonly #report: SchemaLossReporter

  constructor(document: OpenApiDocument, bounds: ConversionBounds, report: SchemaLossReporter) {
    this.#document = document
    this.#bounds = bounds
    this.#report = report
  }

  /** @param open references that are being replaced */
  convert(given: JsonValue | undefined, level: number, open: readonly string[]): JsonValue {
    // Beyond the bound nothing is kept, so that nothing needs to be read.
    if (++this.nodes > this.#bounds.nodes) return true
    if (!isJsonObject(given)) return given === false ? false : {}
    const { $ref } = given
    if (typeof $ref === 'string') return this.#replace($ref, given, level, open)
    if (given['$dynamicRef'] !== undefined || given['$recursiveRef'] !== undefined)
      this.#report('a dynamic reference is left open', true)
    if (level > this.#bounds.levels) {
      if (['properties', 'items', 'allOf', 'anyOf', 'oneOf'].every((each) => given[each] === undefined))
        return this.#keywords(given, level, open)
      return this.#cut(given, `schemas below ${this.#bounds.levels} levels are left open`)
    }
    return this.#keywords(given, level, open)
  }

  #replace(ref: string, given: JsonObject, level: number, open: readonly string[]): JsonValue {
    const target = targetOf(this.#document.root, ref)
    if (target === undefined || open.length > 64) {
      const isRemote = !ref.startsWith('#/')
      this.#report(
        `${isRemote ? 'a reference to elsewhere' : 'a reference that leads nowhere'} is left open: ${shortenText(ref, 120)}`,
        true,
      )
      return {}
    }
    if (open.includes(ref))
      return this.#cut(isJsonObject(target) ? target : {}, `a cycle is left open: ${shortenText(ref, 120)}`)
    const converted = this.convert(target, level, [...open, ref])
    // Beside a reference, 3.0 ignores everything.
    const { $ref: _, ...beside } = given
    if (this.#document.isOld || Object.keys(beside).length === 0) return converted
    const own = this.#keywords(beside, level, open)
    if (Object.keys(own).length === 0) return converted
    const isText = Object.keys(own).every((key) => key === 'description')
    return isText && isJsonObject(converted) ? { ...converted, ...own } : { allOf: [converted, own] }
  }

  #cut(given: JsonObject, what: string): JsonObject {
    this.#report(what)
    const { type } = given
    return { ...(typeof type === 'string' && TYPES.has(type) && { type }) }
  }

  #keywords(given: JsonObject, level: number, open: readonly string[]): JsonObject {
    const made: JsonObject = {}
    const type = this.#typeOf(given)
    if (type !== undefined) made['type'] = type
    const text = cleanForeignText(given['description'] ?? given['title'], this.#bounds.textLength)
    if (text !== undefined) made['description'] = text
    this.#values(given, made)
    this.#numbers(given, made)
    const deeper = (each: JsonValue | undefined): JsonValue => this.convert(each, level + 1, open)
    this.#members(given, made, deeper)
    for (const key of ['allOf', 'anyOf', 'oneOf', 'prefixItems']) {
      const parts = given[key]
      // Parts apply to the same value, so that they are no deeper.
      if (Array.isArray(parts) && parts.length > 0)
        made[key] = parts.map((each) => (key === 'prefixItems' ? deeper(each) : this.convert(each, level + 0.5, open)))
    }
    for (const key of ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
      if (given[key] !== undefined && !Array.isArray(given[key])) made[key] = deeper(given[key])
    for (const key of NOT_CARRIED) if (given[key] !== undefined) this.#report(`\`${key}\` is left open`, true)
    if (given['discriminator'] !== undefined) this.#report('`discriminator` is not carried; `oneOf` and `anyOf` are')
    return this.#document.isOld && given['nullable'] === true ? acceptNull(made) : made
  }

  #typeOf(given: JsonObject): JsonValue | undefined {
    const { type } = given
    if (typeof type === 'string' && TYPES.has(type)) return type
    const list = Array.isArray(type) ? type.filter((each) => typeof each === 'string' && TYPES.has(each)) : []
    if (list.length > 0) return list.length === 1 ? list[0] : [...new Set(list)]
    if (type !== undefined)
      this.#report(`the type ${shortenText(JSON.stringify(type), 60)} is unknown and left open`, true)
    if (isJsonObject(given['properties'])) return 'object'
    return given['items'] !== undefined ? 'array' : undefined
  }

  #values(given: JsonObject, made: JsonObject): void {
    if (Array.isArray(given['enum'])) {
      const texts = new Map(given['enum'].map((each) => [JSON.stringify(each), each]))
      const fits = [...texts.values()].filter(
        (each) => hasType(each, made['type']) || (each === null && given['nullable'] === true),
      )
      if (fits.length === 0 || fits.length > MAX_ENUM) this.#report('an `enum` is left open', true)
      else made['enum'] = fits
    }
    if (given['const'] !== undefined) {
      if (hasType(given['const'], made['type'])) made['const'] = given['const']
      else this.#report('a `const` of another type is left open', true)
    }
    const usual = given['default']
    if (usual !== undefined && typeof usual !== 'object' && hasType(usual, made['type']) && !made['enum']) {
      if (typeof usual !== 'number' || Number.isSafeInteger(usual)) made['default'] = usual
    }
    if (typeof given['format'] === 'string' && FORMATS.has(given['format']) && made['type'] === 'string')
      made['format'] = given['format']
    if (typeof given['pattern'] === 'string') {
      if (isUsablePattern(given['pattern'])) made['pattern'] = given['pattern']
      else this.#report(`a pattern is left open: ${shortenText(given['pattern'], 60)}`)
    }
    if (typeof given['uniqueItems'] === 'boolean') made['uniqueItems'] = given['uniqueItems']
  }

  #numbers(given: JsonObject, made: JsonObject): void {
    for (const [low, high] of COUNTS) {
      for (const key of [low, high]) if (isCount(given[key])) made[key] = given[key]!
      if (Number(made[low]) > Number(made[high])) [low, high].forEach((key) => delete made[key])
    }
    for (const [bound, exclusive] of [
      ['minimum', 'exclusiveMinimum'],
      ['maximum', 'exclusiveMaximum'],
    ] as const) {
      const [value, other] = [given[bound], given[exclusive]]
      // Larger numbers are rounded when they are read, and would mean another bound.
      if (isSafeNumber(value)) made[other === true ? exclusive : bound] = value
      if (isSafeNumber(other)) made[exclusive] = other
    }
    const low = Math.max(...[made['minimum'], made['exclusiveMinimum']].map((each) => Number(each ?? -Infinity)))
    const high = Math.min(...[made['maximum'], made['exclusiveMaximum']].map((each) => Number(each ?? Infinity)))
    if (low > high || (low === high && (made['exclusiveMinimum'] ?? made['exclusiveMaximum']) !== undefined)) {
      for (const key of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) delete made[key]
      this.#report('bounds that no number meets are left open')
    }
    const step = given['multipleOf']
    if (isSafeNumber(step) && step > 0) made['multipleOf'] = step
  }

  #members(given: JsonObject, made: JsonObject, deeper: (each: JsonValue | undefined) => JsonValue): void {
    const properties = isJsonObject(given['properties']) ? given['properties'] : undefined
    const left = new Set<string>()
    if (properties) {
      const kept = Object.entries(properties).flatMap(([name, each]): [string, JsonValue][] => {
        // What only answers have is never sent.
        const isUnsafe = REFUSED_NAMES.has(name)
        if (isUnsafe) this.#report(`the property \`${name}\` is left out`)
        if (!isUnsafe && !(isJsonObject(each) && each['readOnly'] === true)) return [[name, deeper(each)]]
        left.add(name)
        return []
      })
      made['properties'] = Object.fromEntries(kept)
    }
    const { additionalProperties, required } = given
    // Closed, the object would refuse what its patterns allow.
    if (given['patternProperties'] === undefined) {
      if (typeof additionalProperties === 'boolean') made['additionalProperties'] = additionalProperties
      else if (isJsonObject(additionalProperties)) made['additionalProperties'] = deeper(additionalProperties)
    }
    if (Array.isArray(required)) {
      const isClosed = made['additionalProperties'] === false
      const names = required.filter(
        (each): each is string =>
          typeof each === 'string' && !left.has(each) && (!isClosed || Object.hasOwn(properties ?? {}, each)),
      )
      if (names.length > 0) made['required'] = [...new Set(names)]
    }
  }
}

/** A body with such a name is refused, so that a tool with it could not be published. */
export const REFUSED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor'])
/** Keywords that refuse values, and that no vendor's schemas have. */
const NOT_CARRIED =
  'patternProperties unevaluatedProperties unevaluatedItems dependentRequired dependentSchemas minContains maxContains'.split(
    ' ',
  )
const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const FORMATS: ReadonlySet<string> = new Set(
  'date-time date time duration email hostname ipv4 ipv6 uri uuid'.split(' '),
)
const COUNTS = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

const isCount = (value: JsonValue | undefined): boolean => Number.isSafeInteger(value) && Number(value) >= 0

function isUsablePattern(pattern: string): boolean {
  if (pattern.length > 1000) return false
  try {
    void new RegExp(pattern, 'u')
  } catch {
    return false
  }
  return patternGrowth(pattern).degree === 1
}

function hasType(value: JsonValue, type: JsonValue | undefined): boolean {
  if (type === undefined) return true
  const list = Array.isArray(value) ? 'array' : typeof value
  const is = value === null ? 'null' : list
  return (Array.isArray(type) ? type : [type]).some(
    (each) =>
      each === is || (is === 'number' && (each === 'number' || (each === 'integer' && Number.isInteger(value)))),
  )
}

function acceptNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (type === undefined) return Object.keys(schema).length === 0 ? {} : { anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    type: [...new Set([...(Array.isArray(type) ? type : [type]), 'null'])],
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}
