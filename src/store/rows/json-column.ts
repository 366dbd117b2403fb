import type { JsonObject, JsonValue } from '../../base/json/json.ts'

/** JSON text for a column. Both `null` and undefined become NULL. */
export const toText = (value: object | JsonValue | undefined): string | null =>
  value == null ? null : JSON.stringify(value)

export const toValue = (text: string | null): JsonValue => (text === null ? null : (JSON.parse(text) as JsonValue))

/** Parses a column that always holds an object. The cast holds because only the store writes the column. */
export const toObject = (text: string): JsonObject => JSON.parse(text) as JsonObject
