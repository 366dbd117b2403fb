/** Reads JSON of others in which a number may have more digits than are kept: one number must not take its neighbours away. */
import { InexactNumberError, quoteInexactNumbers } from './exact-number.ts'
import { parseJson, type JsonValue } from './json.ts'

/** A number that would change becomes a text of its digits. */
export function parseKeepingDigits(json: string): JsonValue {
  try {
    return parseJson(json)
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    return parseJson(quoteInexactNumbers(json))
  }
}
