import { CALL_FIELDS, type CallField } from './fields.ts'
import type { FactRoot } from './path.ts'
import type { PathSegment } from './segment.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** The line of the table for a path that `readPath` returned, of a root other than `args` and `history`. */
export const fieldOf = (root: FactRoot, [first]: readonly PathSegment[]): CallField =>
  expectDefined(first && 'key' in first ? CALL_FIELDS[root]?.[first.key] : undefined, 'readPath knows every field')
