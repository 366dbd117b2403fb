/** JSON answers as models wrap them. */
import { JsonBoundError, parseJson, type JsonValue } from '../../base/json/json.ts'
import { InexactNumberError } from '../../base/json/exact-number.ts'

/**
 * Parses an answer that is JSON as a whole, also within one Markdown fence, after thinking in tags, or after a byte order mark. Other
 * text around it makes it invalid: nobody could say which of two values was meant.
 * @throws what `parseJson` throws for the text as it is
 */
export function parseJsonAnswer(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonBoundError || error instanceof InexactNumberError) throw error
    const inner = unwrap(text)
    if (inner === text) throw error
    try {
      return parseJson(inner)
    } catch (again) {
      // The value was found, so what is wrong with it is told.
      throw again instanceof JsonBoundError || again instanceof InexactNumberError ? again : error
    }
  }
}

function unwrap(text: string): string {
  const answer = text
    .replace(/^\ufeff/, '')
    .trim()
    .replace(THINKING, '')
    .trim()
  return FENCE.exec(answer)?.[1] ?? answer
}

/** Blocks of thinking before the answer. A tag without an end leaves the text as it is. */
const THINKING = /^(?:<(think|thinking|reasoning)>[^]*?<\/\1>\s*)+/i

/** One fence around everything, with or without the name of its language. */
const FENCE = /^(?:```|~~~)[ \t]*(?:jsonc?|json5|javascript|js)?[ \t]*\r?\n([^]*?)\r?\n?[ \t]*(?:```|~~~)$/i
