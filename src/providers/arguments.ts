import { unsafeNumberIn } from '../base/json/exact-number.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../base/json/json.ts'

/** Parses the arguments of a call. For tools without parameters models send empty text or `null`, which become the empty object. */
export function parseArguments(text: string): JsonValue {
  if (['', 'null', '""'].includes(text.trim())) return {}
  try {
    const value = parseJson(text)
    // Some servers print them as JSON twice.
    const given = typeof value === 'string' ? parseJson(value) : value
    if (isJsonObject(given)) return given
  } catch {
    // Not JSON: the text is kept, and the engine refuses the call.
  }
  return { $unparsed: text }
}

/** Arguments that an SDK parsed. If parsing may have changed a number, only that number is kept, as unparsed text. */
export function keepSafeNumbers(input: JsonValue): JsonValue {
  const unsafe = unsafeNumberIn(input)
  return unsafe ? { $unparsed: String(unsafe.value).replace('Infinity', '1e400') } : input
}

/** The text that `parseArguments` read. Invalid text is sent back unchanged, so that the model sees its mistake. */
export function printArguments(value: JsonValue): string {
  return isJsonObject(value) && typeof value['$unparsed'] === 'string' ? value['$unparsed'] : JSON.stringify(value)
}

/** A tool's schema in the form that vendors accept: always of type object. */
export const toObjectSchema = (schema: JsonObject | boolean): JsonObject & { type: 'object' } => ({
  ...(typeof schema === 'boolean' ? {} : schema),
  type: 'object',
})

/** `provider_options` without our own `script`; merged into the request last. */
export function vendorOptions(options: JsonObject | undefined): JsonObject {
  const { script: _, ...rest } = options ?? {}
  return rest
}
