/**
 * What a client says of a call in `_meta`. A value of another type is refused: an idempotency key that nobody reads is a call that is made
 * twice. Source: docs/design/gate.md#the-mcp-endpoint
 */
import { fail } from '../../base/failure.ts'
import type { JsonObject } from '../../base/json/json.ts'

/** @throws Failure `invalid_value` for what is no text; the reader of the text bounds it */
export function textInMeta(meta: JsonObject, key: string): string | undefined {
  const value = meta[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw fail('invalid_value', { what: `_meta["${key}"] must be text that is not empty.` })
}

/** @throws Failure `invalid_value` */
export function secondsInMeta(meta: JsonObject, key: string): number | undefined {
  const value = meta[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && value >= 0) return value
  throw fail('invalid_value', { what: `_meta["${key}"] must be a number of seconds, 0 or more.` })
}
