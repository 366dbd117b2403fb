/** The JSON Schema of one argument. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { PathSegment } from '../../policy/condition/path.ts'
import { pointerTo } from './pointer.ts'

/** JSON pointer of an argument's schema in that of the arguments. */
export const pointerAlong = (segments: readonly PathSegment[]): string =>
  segments.reduce(
    (pointer, segment) => ('key' in segment ? pointerTo(`${pointer}/properties`, segment.key) : `${pointer}/items`),
    '',
  )

/** The types that a schema names by itself; none where it names one that JSON Schema does not have. */
export function typesOf({ type }: JsonObject): readonly string[] {
  const named = typeof type === 'string' ? [type] : Array.isArray(type) ? type : NO_TYPES
  return named.every((each) => JSON_TYPES.has(each)) ? (named as readonly string[]) : NO_TYPES
}

const JSON_TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

const NO_TYPES: readonly string[] = []

/** The first step of a path that a closed object does not have; undefined where all may be there. */
export function firstMissingStep(
  schema: JsonObject | boolean,
  segments: readonly PathSegment[],
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

/** The first step of a path into a value without members; undefined if every step is possible. */
export function firstImpossibleStep(
  schema: JsonObject | boolean,
  segments: readonly PathSegment[],
): { readonly at: number; readonly types: readonly string[] } | undefined {
  let here: JsonValue | undefined = schema
  for (const [at, segment] of segments.entries()) {
    if (!isJsonObject(here)) return undefined
    const types = typesOf(here)
    if (types.length > 0 && !types.includes('key' in segment ? 'object' : 'array')) return { at, types }
    const { properties, items }: JsonObject = here
    if (!('key' in segment)) here = items
    else if (isJsonObject(properties) && Object.hasOwn(properties, segment.key)) here = properties[segment.key]
    else return undefined
  }
  return undefined
}
