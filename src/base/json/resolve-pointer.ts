/** Looks up values by JSON pointers, and by references within a JSON Schema (`#/$defs/amount`). */
import { isJsonObject, type JsonValue } from './json.ts'
import { segmentsOf, unescapeSegment } from './pointer.ts'

/** The value at a pointer; undefined where there is none. */
export const valueAt = (value: JsonValue, pointer: string): JsonValue | undefined =>
  follow(value, segmentsOf(pointer), () => true)

/**
 * The part of a schema that a reference leads to; undefined for a reference to another document or to an anchor, and where there
 * is no such part.
 * @param mayPass false for a part that the reference must not lead through or to
 */
export function resolveReference(
  root: JsonValue,
  ref: string,
  mayPass: (part: JsonValue) => boolean = () => true,
): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  try {
    const segments = ref.slice(2).split('/')
    return follow(
      root,
      segments.map((segment) => unescapeSegment(decodeURIComponent(segment))),
      mayPass,
    )
  } catch {
    return undefined // not percent-encoded text
  }
}

function follow(
  value: JsonValue,
  segments: readonly string[],
  mayPass: (part: JsonValue) => boolean,
): JsonValue | undefined {
  let here: JsonValue | undefined = value
  for (const segment of segments) {
    if (Array.isArray(here)) here = here[Number(segment)]
    else here = isJsonObject(here) && Object.hasOwn(here, segment) ? here[segment] : undefined
    if (here === undefined || !mayPass(here)) return undefined
  }
  return here
}
