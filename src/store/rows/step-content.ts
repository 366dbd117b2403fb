/** The content of steps as it is stored. Source: docs/design/runs-and-recovery.md#storage */
import { digestOf, type Digest } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { ERASED_CONTENT, type RunStep } from '../../spec/step.ts'
import { toColumnText, toObject, toValue } from './json-column.ts'

/** A larger result is stored separately under its digest: equal results are written once, and steps stay quick to read. */
const LARGE_BYTES = 256 * 1024

/** A result that is stored separately, as JSON text. */
export interface LargeResult {
  readonly digest: Digest
  readonly result: string
}

/** The content of a step as JSON text, without its result where that is stored separately. */
export function splitContent({ type, content }: RunStep): { readonly content: string; readonly large?: LargeResult } {
  const result = type === 'ToolResult' ? toColumnText(content['result'] ?? null) : ''
  // A UTF-16 unit takes at most three bytes of UTF-8, so most results need no exact count.
  if (result.length * 3 <= LARGE_BYTES || Buffer.byteLength(result) <= LARGE_BYTES)
    return { content: toColumnText(content) }
  return { content: toColumnText({ ...content, result: null }), large: { digest: digestOf(result), result } }
}

/** @param result the result stored separately; null when there is none */
export function toContent(text: string, result: string | null): JsonObject {
  if (text === 'null') return ERASED_CONTENT
  const content = toObject(text)
  return result === null ? content : { ...content, result: toValue(result) }
}
