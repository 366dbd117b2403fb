/** The JSON Schema of one argument. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { PathSegment } from '../../policy/condition/segment.ts'
import { requiresMember, typesOf } from '../../policy/prove/schema-parts.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { ownMember } from '../../base/json/own-member.ts'

/** JSON pointer of an argument's schema in that of the arguments. */
export const pointerAlong = (segments: readonly PathSegment[]): string =>
  segments.reduce(
    (pointer, segment) => ('key' in segment ? pointerTo(`${pointer}/properties`, segment.key) : `${pointer}/items`),
    '',
  )

/** True where a schema declares an argument as optional. */
export function isDeclaredOptional(schema: JsonSchema, segments: readonly PathSegment[]): boolean {
  let here: JsonValue | undefined = schema
  let isOptional = false
  for (const segment of segments) {
    if (!isJsonObject(here) || !('key' in segment)) return false
    if (!requiresMember(here, segment.key)) isOptional = true
    const { properties }: JsonObject = here
    here = isJsonObject(properties) ? ownMember(properties, segment.key) : undefined
  }
  return isJsonObject(here) && isOptional
}

/** The first step of a path that a closed object does not have; undefined where all may be there. */
export function firstMissingStep(
  schema: JsonSchema,
  segments: readonly PathSegment[],
): { readonly name: string; readonly known: readonly string[]; readonly pointer: string } | undefined {
  let here: JsonValue | undefined = schema
  for (const [at, segment] of segments.entries()) {
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
  schema: JsonSchema,
  segments: readonly PathSegment[],
): { readonly at: number; readonly types: readonly string[] } | undefined {
  let here: JsonValue | undefined = schema
  for (const [at, segment] of segments.entries()) {
    if (!isJsonObject(here)) return undefined
    const types = typesOf(here)
    if (types && !types.includes('key' in segment ? 'object' : 'array')) return { at, types }
    const { properties, items }: JsonObject = here
    if (!('key' in segment)) here = items
    else if (isJsonObject(properties) && Object.hasOwn(properties, segment.key)) here = properties[segment.key]
    else return undefined
  }
  return undefined
}
