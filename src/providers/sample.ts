import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { resolveReference } from '../base/json/resolve-pointer.ts'
import { fitsText, sampleText } from './sample-text.ts'

/**
 * Builds a value that fits a schema, always the same one. Properties take the value that `given` has under the same name, at any
 * depth, if it fits. Undefined when no value was found.
 */
export function sampleValue(schema: JsonObject | boolean, given: JsonObject): JsonValue | undefined {
  return sample({ root: schema, given }, schema, undefined, 0)
}

interface SampleContext {
  readonly root: JsonObject | boolean
  readonly given: JsonObject
}

/** Optional properties are left out below this depth, so that a recursive schema comes to an end. */
const MAX_OPTIONAL_DEPTH = 4
/** Below this depth no value is built: the schema requires an endless one. */
const MAX_DEPTH = 24

function sample(
  context: SampleContext,
  schema: unknown,
  name: string | undefined,
  depth: number,
): JsonValue | undefined {
  if (schema === false || depth > MAX_DEPTH) return undefined
  const plain = simplify(context.root, schema, 0)
  const hint = name === undefined ? undefined : findNamed(context.given, name)
  if (hint !== undefined && fits(context.root, plain, hint)) return hint
  for (const key of ['const', 'default'] as const) if (Object.hasOwn(plain, key)) return plain[key]
  for (const key of ['examples', 'enum'] as const)
    if (Array.isArray(plain[key]) && plain[key].length > 0) return plain[key][0]
  switch (typeOf(plain)) {
    case 'object':
      return sampleObject(context, plain, depth)
    case 'array':
      return sampleArray(context, plain, name, depth)
    case 'string':
      return sampleText(plain, name)
    case 'integer':
    case 'number':
      return sampleNumber(plain)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return undefined
  }
}

function sampleObject(context: SampleContext, schema: JsonObject, depth: number): JsonObject | undefined {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(namesIn(schema['required']))
  const sampled: JsonObject = {}
  for (const name of new Set([...Object.keys(properties), ...required])) {
    const wanted = required.has(name)
    // Optional properties are set only when the input has a value for them.
    if (!wanted && (depth >= MAX_OPTIONAL_DEPTH || findNamed(context.given, name) === undefined)) continue
    const value = sample(context, properties[name] ?? true, name, depth + 1)
    if (value !== undefined) sampled[name] = value
    else if (wanted) return undefined
  }
  return sampled
}

function sampleArray(
  context: SampleContext,
  schema: JsonObject,
  name: string | undefined,
  depth: number,
): JsonValue[] | undefined {
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : []
  const count = Math.max(numberIn(schema['minItems']) ?? 0, first.length)
  const sampled: JsonValue[] = []
  for (let at = 0; at < Math.min(count, 100); at++) {
    const value = sample(context, first[at] ?? schema['items'] ?? true, name, depth + 1)
    if (value === undefined) return undefined
    sampled.push(value)
  }
  return sampled
}

function sampleNumber(schema: JsonObject): number | undefined {
  const whole = schema['type'] === 'integer'
  const step = numberIn(schema['multipleOf']) ?? (whole ? 1 : undefined)
  const low = numberIn(schema['minimum']) ?? numberIn(schema['exclusiveMinimum'])
  const high = numberIn(schema['maximum']) ?? numberIn(schema['exclusiveMaximum'])
  const middle = low !== undefined && high !== undefined ? (low + high) / 2 : undefined
  const onStep = (value: number | undefined, round: (value: number) => number): number | undefined =>
    value === undefined || step === undefined ? value : round(value / step) * step
  const candidates = [
    1,
    onStep(low, Math.ceil),
    onStep(low === undefined ? undefined : low + (step ?? 1), Math.floor),
    middle,
    onStep(high, Math.floor),
  ]
  return [...candidates, onStep(high === undefined ? undefined : high - (step ?? 1), Math.ceil), 0, step].find(
    (value): value is number => value !== undefined && fitsNumber(schema, value),
  )
}

/** Follows references, merges `allOf` and takes the first of `anyOf` or `oneOf`. */
function simplify(root: JsonObject | boolean, schema: unknown, depth: number): JsonObject {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {}
  const { $ref, allOf, anyOf, oneOf, ...own } = schema
  const parts: JsonObject[] = []
  if (typeof $ref === 'string') parts.push(simplify(root, resolveReference(root, $ref), depth + 1))
  if (Array.isArray(allOf)) for (const each of allOf) parts.push(simplify(root, each, depth + 1))
  for (const choice of [anyOf, oneOf])
    if (Array.isArray(choice) && choice.length > 0) parts.push(simplify(root, choice[0], depth + 1))
  return parts.reduce(merge, own)
}

const merge = (a: JsonObject, b: JsonObject): JsonObject => ({
  ...b,
  ...a,
  ...(isJsonObject(a['properties']) &&
    isJsonObject(b['properties']) && { properties: { ...b['properties'], ...a['properties'] } }),
  ...((a['required'] ?? b['required']) !== undefined && {
    required: [...namesIn(a['required']), ...namesIn(b['required'])],
  }),
})

function typeOf(schema: JsonObject): string {
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return namesIn(type).find((each) => each !== 'null') ?? 'null'
  if ('properties' in schema || 'required' in schema || 'additionalProperties' in schema) return 'object'
  if ('items' in schema || 'prefixItems' in schema || 'minItems' in schema) return 'array'
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number'
  return 'string'
}

/** Whether a value of the input fits the schema. Checks only the common keywords. */
function fits(root: JsonObject | boolean, schema: JsonObject, value: JsonValue): boolean {
  const types = typeof schema['type'] === 'string' ? [schema['type']] : namesIn(schema['type'])
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return false
  if ('const' in schema && JSON.stringify(schema['const']) !== JSON.stringify(value)) return false
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => JSON.stringify(each) === JSON.stringify(value)))
    return false
  if (typeof value === 'number') return fitsNumber(schema, value)
  if (typeof value === 'string') {
    const { length } = Array.from(value)
    if (length < (numberIn(schema['minLength']) ?? 0) || length > (numberIn(schema['maxLength']) ?? Infinity))
      return false
    return fitsText(schema, value)
  }
  if (Array.isArray(value)) {
    if (value.length < (numberIn(schema['minItems']) ?? 0) || value.length > (numberIn(schema['maxItems']) ?? Infinity))
      return false
    return value.every((each) => schema['items'] === undefined || fitsNested(root, schema['items'], each))
  }
  if (isJsonObject(value)) {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
    if (!namesIn(schema['required']).every((name) => Object.hasOwn(value, name))) return false
    return Object.entries(value).every(([name, each]) =>
      Object.hasOwn(properties, name)
        ? fitsNested(root, properties[name], each)
        : schema['additionalProperties'] !== false,
    )
  }
  return true
}

const fitsNested = (root: JsonObject | boolean, schema: unknown, value: JsonValue): boolean =>
  schema === true || (schema !== false && fits(root, simplify(root, schema, 0), value))

function isOfType(type: string, value: JsonValue): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function fitsNumber(schema: JsonObject, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (schema['type'] === 'integer' && !Number.isInteger(value)) return false
  if (typeof minimum === 'number' && value < minimum) return false
  if (typeof maximum === 'number' && value > maximum) return false
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false
  return typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf)
}

/** The value of the property of this name that is nearest to the top. */
function findNamed(given: JsonObject, name: string): JsonValue | undefined {
  let level: JsonValue[] = [given]
  for (let depth = 0; level.length > 0 && depth < 8; depth++) {
    for (const each of level) if (isJsonObject(each) && Object.hasOwn(each, name)) return each[name]
    level = level.flatMap((each) => (isJsonObject(each) || Array.isArray(each) ? Object.values(each) : []))
  }
  return undefined
}

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
