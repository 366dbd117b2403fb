/** Where the results of tools are kept. Source: reliability, "Storage rules". */
import type { Database } from 'better-sqlite3'
import { digestOf, type Digest } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json.ts'
import type { RunStep } from '../../spec/step.ts'
import { toObject, toValue } from './database/json-column.ts'

/** A longer result is kept by its digest: it is written once, and what is next to it stays quick to read. */
const LARGE_BYTES = 256 * 1024

export interface ResultTable {
  /** The content of a step as text and, when its result is kept apart, the digest of that. */
  put(step: RunStep): { readonly content: string; readonly resultDigest: Digest | null }
}

export function openResults(db: Database): ResultTable {
  const keep = db.prepare<[string, string]>(
    'insert into large_result (digest, result) values (?, ?) on conflict do nothing',
  )
  return {
    put({ type, content }) {
      const whole = { content: JSON.stringify(content), resultDigest: null }
      // A character takes three bytes at most (four are two characters), so most need no second look.
      if (type !== 'ToolResult' || whole.content.length * 3 <= LARGE_BYTES) return whole
      const result = JSON.stringify(content['result'] ?? null)
      if (Buffer.byteLength(result) <= LARGE_BYTES) return whole
      const resultDigest = digestOf(result)
      keep.run(resultDigest, result)
      return { content: JSON.stringify({ ...content, result: null }), resultDigest }
    },
  }
}

/** @param result what was kept apart; null where nothing was */
export function toContent(text: string, result: string | null): JsonObject {
  const content = toObject(text)
  return result === null ? content : { ...content, result: toValue(result) }
}
