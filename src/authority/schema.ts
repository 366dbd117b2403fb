/** Whether one JSON Schema accepts every value that another accepts. The answer is no unless it can be proven. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { checkValue } from '../tools/check/check.ts'
import { enumeratedValues, listIn, pointedAt, typesOf, type PlacedSchema } from '../policy/prove/schema-parts.ts'
import { ownMember } from '../base/json/own-member.ts'

export type ContractChange = 'equal' | 'narrowed' | 'widened' | 'changed'

/** How a contract changed: `changed` = neither schema is proven to accept everything that the other accepts. */
export function compareSchemas(before: JsonSchema, after: JsonSchema): ContractChange {
  const [kept, added] = [acceptsAll(after, before), acceptsAll(before, after)]
  if (kept) return added ? 'equal' : 'widened'
  return added ? 'narrowed' : 'changed'
}

/** `acceptsAll` for parts of two schemas. */
export function acceptsPart(wide: PlacedSchema, narrow: PlacedSchema): boolean {
  // Treat references that may not resolve as different on both sides.
  const [wideRoot, narrowRoot] = [wide.root ?? { $comment: 'wide' }, narrow.root ?? { $comment: 'narrow' }]
  return covers({ wideRoot, narrowRoot, declared: false, open: new Set() }, wide.schema, narrow.schema)
}

/** True if a part of a schema certainly accepts a value. */
export function acceptsPartValue({ schema, root }: PlacedSchema, value: JsonValue): boolean {
  if (typeof schema === 'boolean') return schema
  const whole = root !== undefined && withDefinitions(schema, root)
  return whole !== false && whole !== undefined && checkValue(whole, value).length === 0
}

/**
 * True if `wide` is proven to accept every value that `narrow` accepts.
 * @param declared treat a property that only `wide` describes, and that `narrow` leaves open, as never sent
 */
export function acceptsAll(wide: JsonSchema, narrow: JsonSchema, declared = false): boolean {
  return covers({ wideRoot: wide, narrowRoot: narrow, declared, open: new Set() }, wide, narrow)
}

interface Roots {
  readonly wideRoot: JsonSchema
  readonly narrowRoot: JsonSchema
  readonly declared: boolean
  /** Pairs under comparison. A pair that recurs holds if all other conditions do. */
  readonly open: Set<string>
}

/** True for keywords that only inform people, or only have an effect together with others. */
export const isIgnoredKeyword = (keyword: string): boolean => IGNORED_KEYWORDS.has(keyword)

const IGNORED_KEYWORDS = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  // Handled with `type`.
  'nullable',
])

function covers(roots: Roots, wide: JsonValue, narrow: JsonValue): boolean {
  if (wide === true || narrow === false) return true
  if (wide === false) return false
  if (!isJsonObject(wide) || (narrow !== true && !isJsonObject(narrow))) return false
  if (hasOwnRoot(wide, roots.wideRoot) || hasOwnRoot(narrow, roots.narrowRoot)) return false
  const key = `${canonicalJson(wide)} ${canonicalJson(narrow)}`
  if (roots.open.has(key)) return true
  const known = roots.open.size
  roots.open.add(key)
  const holds = coversAll(roots, wide, narrow === true ? {} : narrow)
  // Pairs proven meanwhile may depend on this one. A set keeps insertion order.
  if (!holds) for (const each of [...roots.open].slice(known)) roots.open.delete(each)
  return holds
}

function coversAll(roots: Roots, wide: JsonObject, narrow: JsonObject): boolean {
  const finite = enumeratedValues(narrow)
  if (finite) return finite.every((value) => acceptsValue(roots, wide, value) || refusesValue(roots, narrow, value))
  const { $ref, allOf, ...own } = narrow
  // A schema with a reference, or with several parts, accepts at most what any single part accepts.
  const parts: readonly JsonValue[] = [
    ...(typeof $ref === 'string' ? [pointedAt(roots.narrowRoot, $ref)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ].filter((part) => part !== undefined)
  if (parts.some((part) => covers(roots, wide, part))) return true
  for (const choice of ['anyOf', 'oneOf'])
    if (Array.isArray(own[choice]) && own[choice].every((each) => covers(roots, wide, each))) return true
  return Object.entries(wide).every(
    ([keyword, value]) => isIgnoredKeyword(keyword) || implies(roots, keyword, value, wide, narrow),
  )
}

/** True for a part whose references resolve against itself and not against the root. */
const hasOwnRoot = (schema: JsonValue, root: JsonSchema): boolean =>
  isJsonObject(schema) && schema !== root && typeof schema['$id'] === 'string' && REFERENCE.test(canonicalJson(schema))

const acceptsValue = ({ wideRoot }: Roots, schema: JsonObject, value: JsonValue): boolean =>
  acceptsPartValue({ schema, root: wideRoot }, value)

function refusesValue({ narrowRoot }: Roots, schema: JsonObject, value: JsonValue): boolean {
  const whole = withDefinitions(schema, narrowRoot)
  const [found] = whole ? checkValue(whole, value) : []
  // A schema that cannot be checked refuses nothing for certain.
  return found !== undefined && !found.message.startsWith('cannot be checked')
}

/** A part of a schema together with the definitions it refers to; undefined if references may point elsewhere. */
function withDefinitions(schema: JsonObject, root: JsonSchema): JsonObject | undefined {
  if (!isJsonObject(root) || schema === root) return schema
  const whole = { ...schema }
  for (const key of ['$schema', '$defs', 'definitions']) {
    delete whole[key]
    if (root[key] !== undefined) whole[key] = root[key]
  }
  const references = canonicalJson(whole).match(/(?<="\$(?:ref|dynamicRef|recursiveRef)":")[^"]*/g) ?? []
  return references.every((to) => /^#\/(?:\$defs|definitions)\//.test(to)) ? whole : undefined
}

/** Types that a keyword constrains; a value of another type satisfies it. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
  exclusiveMinimum: ['number', 'integer'],
  exclusiveMaximum: ['number', 'integer'],
  multipleOf: ['number', 'integer'],
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
  format: ['string'],
  items: ['array'],
  prefixItems: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  uniqueItems: ['array'],
  contains: ['array'],
  properties: ['object'],
  patternProperties: ['object'],
  additionalProperties: ['object'],
  propertyNames: ['object'],
  required: ['object'],
  minProperties: ['object'],
  maxProperties: ['object'],
}

/** True if `narrow` implies this keyword of `wide`. */
function implies(roots: Roots, keyword: string, value: JsonValue, wide: JsonObject, narrow: JsonObject): boolean {
  const about = ABOUT[keyword]
  if (about && typesOf(narrow)?.every((type) => !about.includes(type))) return true
  const least = (key: string) => numberIn(narrow, key)
  switch (keyword) {
    case '$ref': {
      const target = typeof value === 'string' ? pointedAt(roots.wideRoot, value) : undefined
      return target !== undefined && covers(roots, target, narrow)
    }
    case 'allOf':
      return Array.isArray(value) && value.every((each) => covers(roots, each, narrow))
    case 'anyOf':
      return (
        Array.isArray(value) &&
        (isSameMeaning(roots, narrow[keyword], value) || value.some((each) => covers(roots, each, narrow)))
      )
    case 'type':
      return typesFit(typesOf(wide) ?? [], typesOf(narrow))
    case 'minimum':
      return atLeast(least('minimum'), value) || atLeast(least('exclusiveMinimum'), value)
    case 'maximum':
      return atMost(least('maximum'), value) || atMost(least('exclusiveMaximum'), value)
    case 'exclusiveMinimum':
      return atLeast(least('exclusiveMinimum'), value) || isGreater(least('minimum'), value)
    case 'exclusiveMaximum':
      return atMost(least('exclusiveMaximum'), value) || isGreater(value, least('maximum'))
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return value === 0 || atLeast(least(keyword), value)
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return atMost(least(keyword), value)
    case 'multipleOf':
      return isMultiple(
        least('multipleOf') ?? (typesOf(narrow)?.every((type) => type === 'integer') ? 1 : undefined),
        value,
      )
    case 'uniqueItems':
      return value === false || narrow['uniqueItems'] === true
    case 'required':
      return listIn(wide, 'required').every((name) => listIn(narrow, 'required').includes(name))
    case 'properties':
      return propertiesFit(roots, value, narrow)
    case 'additionalProperties':
      return additionalFit(roots, wide, narrow)
    case 'contains':
      return ['contains', 'minContains', 'maxContains'].every((key) => isSameMeaning(roots, wide[key], narrow[key]))
    case 'unevaluatedProperties':
    case 'unevaluatedItems':
      // Its meaning depends on the neighbouring keywords.
      return isSameMeaning(roots, wide, narrow)
    case 'items':
      return narrow['prefixItems'] === undefined && covers(roots, value, narrow['items'] ?? true)
    default:
      return isSameMeaning(roots, narrow[keyword], value)
  }
}

const typesFit = (wide: readonly string[], narrow: readonly string[] | undefined): boolean =>
  narrow !== undefined && narrow.every((type) => wide.includes(type) || (type === 'integer' && wide.includes('number')))

function propertiesFit(roots: Roots, wide: JsonValue, narrow: JsonObject): boolean {
  if (!isJsonObject(wide)) return false
  const { properties, patternProperties, additionalProperties = true } = narrow
  const known = isJsonObject(properties) ? properties : {}
  return Object.entries(wide).every(([name, schema]) => {
    const own = ownMember(known, name)
    if (own !== undefined) return covers(roots, schema, own)
    if (patternProperties !== undefined) return schema === true
    if (roots.declared && additionalProperties === true) return true
    return covers(roots, schema, additionalProperties)
  })
}

function additionalFit(roots: Roots, wide: JsonObject, narrow: JsonObject): boolean {
  const { additionalProperties: allowed = true } = wide
  if (allowed === true) return true
  if (narrow['patternProperties'] !== undefined || wide['patternProperties'] !== undefined)
    return ['additionalProperties', 'patternProperties', 'properties'].every((key) =>
      isSameMeaning(roots, wide[key], narrow[key]),
    )
  const [known, others] = [wide, narrow].map(({ properties }) => (isJsonObject(properties) ? properties : {})) as [
    JsonObject,
    JsonObject,
  ]
  return (
    covers(roots, allowed, narrow['additionalProperties'] ?? true) &&
    Object.entries(others).every(([name, schema]) => Object.hasOwn(known, name) || covers(roots, allowed, schema))
  )
}

const numberIn = (schema: JsonObject, key: string): number | undefined =>
  typeof schema[key] === 'number' ? schema[key] : undefined

const atLeast = (has: number | undefined, wanted: JsonValue): boolean =>
  has !== undefined && typeof wanted === 'number' && has >= wanted

const atMost = (has: number | undefined, wanted: JsonValue): boolean =>
  has !== undefined && typeof wanted === 'number' && has <= wanted

const isGreater = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  typeof a === 'number' && typeof b === 'number' && a > b

const isMultiple = (of: number | undefined, step: JsonValue): boolean =>
  of !== undefined && typeof step === 'number' && Number.isInteger(of / step)

/** Equal text and, for references, equal targets. */
function isSameMeaning({ wideRoot, narrowRoot }: Roots, a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  const text = canonicalJson(a ?? null)
  return (
    text === canonicalJson(b ?? null) &&
    (!REFERENCE.test(text) || canonicalJson(wideRoot) === canonicalJson(narrowRoot))
  )
}

const REFERENCE = /"\$(?:ref|dynamicRef|recursiveRef)"/
