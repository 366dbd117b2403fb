/** An output that is not valid and that an operator may put right. Source: decisions, sections 8 and 16. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'

/** What the agent gave instead, as text; undefined where a task is about something else. */
export function outputUnderReview(
  task: { readonly kind: string; readonly tool?: unknown; readonly context?: JsonValue } | undefined,
): string | undefined {
  if (task?.kind !== 'escalation' || task.tool != null) return undefined
  const { output, errors } = (isJsonObject(task.context) ? task.context : {}) as JsonObject
  return typeof output === 'string' && Array.isArray(errors) ? output : undefined
}
