/** JSON pointers (RFC 6901). */
import { isJsonObject, type JsonValue } from '../../base/json.ts'

export const pointerTo = (parent: string, key: string | number): string =>
  typeof key === 'number' || !(key.includes('/') || key.includes('~'))
    ? `${parent}/${key}`
    : `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

export function segmentsOf(pointer: string): string[] {
  const segments = pointer.split('/').slice(1)
  return pointer.includes('~')
    ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    : segments
}

/** A pointer as people write paths: `spec.tools[0].ref` for `/spec/tools/0/ref`. */
export const formatPointer = (pointer: string): string =>
  segmentsOf(pointer)
    .map((segment, index) => (/^\d+$/.test(segment) ? `[${segment}]` : index === 0 ? segment : `.${segment}`))
    .join('')

/** The value at a pointer; undefined where there is none. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let here: JsonValue | undefined = value
  for (const segment of segmentsOf(pointer)) {
    if (Array.isArray(here)) here = here[Number(segment)]
    else if (isJsonObject(here) && Object.hasOwn(here, segment)) here = here[segment]
    else return undefined
  }
  return here
}
