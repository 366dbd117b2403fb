import type { JsonObject } from '../../base/json.ts'
import { CALL_FIELDS, DISPATCH, type CallField } from './fields.ts'
import type { ConditionPath } from './path.ts'

/**
 * The values at a path of one of these fields, its function left aside; undefined for arguments, history, single labels and
 * elements of lists.
 */
export function fieldAt({ root, segments }: ConditionPath): Pick<CallField, 'schema' | 'isOptional'> | undefined {
  const [first, second] = segments.map((segment) => ('key' in segment ? segment.key : ''))
  const fields = Object.hasOwn(CALL_FIELDS, root) ? CALL_FIELDS[root]! : {}
  const field = first !== undefined && Object.hasOwn(fields, first) ? fields[first] : undefined
  if (!field || second === undefined) return field
  return field.schema === DISPATCH && second === 'trigger'
    ? { schema: (DISPATCH['properties'] as { trigger: JsonObject }).trigger }
    : undefined
}
