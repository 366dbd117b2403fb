import { type JsonObject, type JsonValue, parseJsonIfAny } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check/check.ts'
import { lastProbeResult } from './probe.ts'

/**
 * The result that a person gives to a call that happened: `metadata["svc/result"]`, else `textValue` as text or as JSON, else
 * the result of the last probe. `textValue` is text if the tool's output schema accepts it as text; without a schema it is JSON
 * if it parses as an object or an array.
 */
export function reviewedResult(
  task: TaskRecord,
  answer: { readonly metadata?: JsonObject; readonly textValue?: string },
  schema: JsonSchema | undefined,
): JsonValue {
  const given = answer.metadata?.['svc/result']
  if (given !== undefined) return given
  const text = answer.textValue
  if (text === undefined) return lastProbeResult(task) ?? null
  const parsed = parseJsonIfAny(text)
  if (parsed === undefined) return text
  if (schema === undefined) return typeof parsed === 'object' && parsed !== null ? parsed : text
  return checkValue(schema, text).length === 0 ? text : parsed
}
