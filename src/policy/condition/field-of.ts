import { CALL_FIELDS, type CallField } from './fields.ts'
import type { FactRoot } from './path.ts'
import type { PathSegment } from './segment.ts'

/** The line of the table for a path that `readPath` returned, of a root other than `args` and `history`. */
export const fieldOf = (root: FactRoot, [first]: readonly PathSegment[]): CallField =>
  // `readPath` refuses fields that are not in the table.
  CALL_FIELDS[root]![(first as { key: string }).key]!
