import type { JsonObject, JsonValue } from '../base/json.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { checkValue } from '../tools/check.ts'

/**
 * The result that a person gives to a call that happened: `metadata["svc/result"]`, else `textValue` as the text it is or as
 * the JSON it says. The tool's output schema tells the two apart; without one, text that says an object or a list is JSON.
 */
export function reviewedResult(
  answer: { readonly metadata?: JsonObject; readonly textValue?: string },
  schema: JsonSchema | undefined,
): JsonValue {
  const given = answer.metadata?.['svc/result']
  if (given !== undefined) return given
  const text = answer.textValue
  if (text === undefined) return null
  const parsed = parse(text)
  if (parsed === undefined) return text
  if (schema === undefined) return typeof parsed === 'object' && parsed !== null ? parsed : text
  return checkValue(schema, text).length === 0 ? text : parsed
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
