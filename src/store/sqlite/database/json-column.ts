import type { JsonObject, JsonValue } from '../../../base/json.ts'

/** JSON as the text of a column. `null` and what is absent are both NULL. */
export const toText = (value: object | JsonValue | undefined): string | null =>
  value == null ? null : JSON.stringify(value)

export const toValue = (text: string | null): JsonValue => (text === null ? null : (JSON.parse(text) as JsonValue))

/** For columns that always hold an object: the store wrote it, so it is one. */
export const toObject = (text: string): JsonObject => JSON.parse(text) as JsonObject
