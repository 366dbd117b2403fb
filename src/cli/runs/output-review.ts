/** An invalid output that an operator may correct. Source: decisions, sections 8 and 16. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'

/** The invalid output as text; undefined for other tasks. */
export function outputUnderReview(
  task: { readonly kind: string; readonly tool?: unknown; readonly context?: JsonValue } | undefined,
): string | undefined {
  if (task?.kind !== 'escalation' || task.tool != null) return undefined
  const { output, errors } = (isJsonObject(task.context) ? task.context : {}) as JsonObject
  return typeof output === 'string' && Array.isArray(errors) ? output : undefined
}
