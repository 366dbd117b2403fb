/** JSON pointers as text. Source: RFC 6901. */

/** The pointer of a member or an element of what `parent` points to. */
export const pointerTo = (parent: string, key: string | number): string =>
  typeof key === 'number' || !(key.includes('/') || key.includes('~'))
    ? `${parent}/${key}`
    : `${parent}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The pointer of what holds that to which `pointer` points. */
export const parentPointer = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'))

/** Keys and indices along a pointer. */
export function segmentsOf(pointer: string): string[] {
  const segments = pointer.split('/').slice(1)
  return pointer.includes('~') ? segments.map(unescapeSegment) : segments
}

export const unescapeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~')
