import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../base/json.ts'

/** Arguments of a call as the model wrote them; empty text is the empty object, as models write it for tools without any. */
export function parseArguments(text: string): JsonValue {
  if (text.trim() === '') return {}
  try {
    const value = parseJson(text)
    if (isJsonObject(value)) return value
  } catch {
    // What is no JSON is kept for the gate to refuse.
  }
  return { $unparsed: text }
}

/** The text that `parseArguments` read, so that the model sees its own mistake. */
export function printArguments(value: JsonValue): string {
  return isJsonObject(value) && typeof value['$unparsed'] === 'string' ? value['$unparsed'] : JSON.stringify(value)
}

/** A schema as vendors take it for tools: always of an object. */
export const objectSchema = (schema: JsonObject | boolean): JsonObject & { type: 'object' } => ({
  ...(typeof schema === 'boolean' ? {} : schema),
  type: 'object',
})

/** `provider_options` without what is ours: merged into the request last. */
export function vendorOptions(options: JsonObject | undefined): JsonObject {
  const { script: _, ...rest } = options ?? {}
  return rest
}
