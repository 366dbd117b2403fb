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

/** The declared types of what a path leads to; undefined where the schema does not say them plainly. */
export function propertyAt(schema: JsonObject | boolean, segments: readonly Segment[]): Property | undefined {
  let here: JsonValue | undefined = schema
  let pointer = ''
  for (const segment of segments) {
    if (!isJsonObject(here)) return undefined
    const { properties, items }: JsonObject = here
    if ('key' in segment) {
      if (!isJsonObject(properties) || !Object.hasOwn(properties, segment.key)) return undefined
      here = properties[segment.key]
      pointer = pointerTo(`${pointer}/properties`, segment.key)
    } else {
      here = items
      pointer += '/items'
    }
  }
  const type = isJsonObject(here) ? here['type'] : undefined
  const types = [type].flat().filter((each) => typeof each === 'string')
  return types.length === 0 ? undefined : { pointer, types }
}

/** The first step of a path that a closed object does not have; undefined where all may be there. */
export function missingIn(
  schema: JsonObject | boolean,
  segments: readonly Segment[],
): { readonly name: string; readonly known: readonly string[]; readonly pointer: string } | undefined {
  let here: JsonValue | undefined = schema
  let pointer = ''
  for (const segment of segments) {
    if (!isJsonObject(here) || !('key' in segment)) return undefined
    const { properties, additionalProperties }: JsonObject = here
    const known: readonly string[] = isJsonObject(properties) ? Object.keys(properties) : []
    if (!known.includes(segment.key)) {
      const closed = additionalProperties === false && !Object.hasOwn(here, 'patternProperties')
      return closed ? { name: segment.key, known, pointer: `${pointer}/properties` } : undefined
    }
    here = isJsonObject(properties) ? properties[segment.key] : undefined
    pointer = pointerTo(`${pointer}/properties`, segment.key)
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
