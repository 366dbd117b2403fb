/** Stores the results of tools. Source: reliability, "Storage rules". */
import type { Database } from 'better-sqlite3'
import { digestOf, type Digest } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { RunStep } from '../../spec/step.ts'
import { toObject, toValue } from './database/json-column.ts'

/** A larger result is stored separately under its digest: equal results are written once, and steps stay quick to read. */
const LARGE_BYTES = 256 * 1024

export interface ResultTable {
  /** Returns the content of a step as text and, when its result is stored separately, the digest of the result. */
  put(step: RunStep): { readonly content: string; readonly resultDigest: Digest | null }
}

export function openResults(db: Database): ResultTable {
  const insert = db.prepare<[string, string]>(
    'insert into large_result (digest, result) values (?, ?) on conflict do nothing',
  )
  return {
    put({ type, content }) {
      const result = type === 'ToolResult' ? JSON.stringify(content['result'] ?? null) : ''
      // A UTF-16 unit takes at most three bytes of UTF-8, so most results need no exact count.
      if (result.length * 3 <= LARGE_BYTES || Buffer.byteLength(result) <= LARGE_BYTES)
        return { content: JSON.stringify(content), resultDigest: null }
      const resultDigest = digestOf(result)
      insert.run(resultDigest, result)
      return { content: JSON.stringify({ ...content, result: null }), resultDigest }
    },
  }
}

/** @param result the result stored separately; null when there is none */
export function toContent(text: string, result: string | null): JsonObject {
  const content = toObject(text)
  return result === null ? content : { ...content, result: toValue(result) }
}
