import { parseJson, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check.ts'
import { foundBy } from '../session/probe.ts'

/**
 * The result that a person gives to a call that happened: `metadata["svc/result"]`, else `textValue` as the text it is or as
 * the JSON it says, else what was found when somebody looked. The tool's output schema tells text and JSON apart; without
 * one, text that says an object or a list is JSON.
 */
export function reviewedResult(
  task: TaskRecord,
  answer: { readonly metadata?: JsonObject; readonly textValue?: string },
  schema: JsonSchema | undefined,
): JsonValue {
  const given = answer.metadata?.['svc/result']
  if (given !== undefined) return given
  const text = answer.textValue
  if (text === undefined) return foundBy(task) ?? null
  const parsed = parse(text)
  if (parsed === undefined) return text
  if (schema === undefined) return typeof parsed === 'object' && parsed !== null ? parsed : text
  return checkValue(schema, text).length === 0 ? text : parsed
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
