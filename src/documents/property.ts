/** What a JSON Schema says about one argument. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { Leaf } from '../policy/condition.ts'
import type { Segment } from '../policy/path.ts'
import { pointerTo } from './pointer.ts'

export interface Property {
  /** Of the property in the schema. */
  readonly pointer: string
  readonly types: readonly string[]
}

/** An argument that a comparison can never match, since the schema plainly declares other types; undefined where none is known to be one. */
export function mismatchOf(schema: JsonObject | boolean, leaf: Leaf): Property | undefined {
  const { segments } = leaf.path
  const types = typesAt(schema, segments)
  return types.length === 0 || accepts(types, leaf) ? undefined : { pointer: pointerAlong(segments), types }
}

/** The declared types of what a path leads to; none where the schema does not say them plainly. */
function typesAt(schema: JsonObject | boolean, segments: readonly Segment[]): readonly string[] {
  let here: JsonValue | undefined = schema
  for (const segment of segments) {
    if (!isJsonObject(here)) return NO_TYPES
    const { properties, items }: JsonObject = here
    if (!('key' in segment)) here = items
    else if (isJsonObject(properties) && Object.hasOwn(properties, segment.key)) here = properties[segment.key]
    else return NO_TYPES
  }
  return isJsonObject(here) ? typesOf(here) : NO_TYPES
}

const pointerAlong = (segments: readonly Segment[]): string =>
  segments.reduce(
    (pointer, segment) => ('key' in segment ? pointerTo(`${pointer}/properties`, segment.key) : `${pointer}/items`),
    '',
  )

/** The types that a schema names by itself. */
export function typesOf({ type }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? type.filter((each) => typeof each === 'string') : NO_TYPES
}

const NO_TYPES: readonly string[] = []

/** The first step of a path that a closed object does not have; undefined where all may be there. */
export function missingIn(
  schema: JsonObject | boolean,
  segments: readonly Segment[],
): { readonly name: string; readonly known: readonly string[]; readonly pointer: string } | undefined {
  let here: JsonValue | undefined = schema
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at]!
    if (!isJsonObject(here) || !('key' in segment)) return undefined
    const { properties, additionalProperties }: JsonObject = here
    if (!isJsonObject(properties) || !Object.hasOwn(properties, segment.key)) {
      const closed = additionalProperties === false && !Object.hasOwn(here, 'patternProperties')
      if (!closed) return undefined
      const known = isJsonObject(properties) ? Object.keys(properties) : []
      return { name: segment.key, known, pointer: `${pointerAlong(segments.slice(0, at))}/properties` }
    }
    here = properties[segment.key]
  }
  return undefined
}

/** False when no value of these types can be compared with the literal by this operator. */
export function accepts(types: readonly string[], { op, value }: Leaf): boolean {
  switch (op) {
    case 'eq':
    case 'ne':
      return types.some((type) => isOf(type, value))
    case 'in':
    case 'not_in':
      return !Array.isArray(value) || value.length === 0 || value.some((each) => types.some((type) => isOf(type, each)))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return types.some((type) => isOf(type, value))
    case 'starts_with':
    case 'ends_with':
    case 'matches':
    case 'cidr':
    case 'semver':
      return types.includes('string')
    default:
      return true
  }
}

function isOf(type: string, value: JsonValue): boolean {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'number'
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}
