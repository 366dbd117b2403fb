/** The typed ways from values to JSON and back. An interface has no index signature, so it is no `JsonObject` by itself. */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/**
 * What JSON can express of a type; `never` stands for a member that it cannot express, such as a function or a date. A member of unknown
 * type is taken for JSON: it was parsed.
 */
type Jsonable<T> = unknown extends T
  ? T
  : T extends JsonValue | undefined
    ? T
    : T extends ((...given: never[]) => unknown) | bigint | symbol | Date | Map<never, never> | Set<never>
      ? never
      : T extends object
        ? { [Member in keyof T]: Jsonable<T[Member]> }
        : never

/** A value whose type JSON can express, seen as JSON. Copies nothing. */
export const toJson = <T>(value: T & Jsonable<T>): T extends readonly unknown[] ? JsonValue[] : JsonObject =>
  value as unknown as T extends readonly unknown[] ? JsonValue[] : JsonObject

/**
 * JSON that this program has stored as a value of a type, as that value.
 * @param members of the value that are never absent
 * @throws TypeError where it is no object, or one of them is absent
 */
export function fromJson<T extends object>(
  stored: JsonValue | Readonly<Record<string, JsonValue | undefined>> | undefined,
  ...members: readonly (keyof T & string)[]
): T {
  if (stored === undefined || !isJsonObject(stored)) throw new TypeError('A stored value is no object.')
  const missing = members.find((member) => !Object.hasOwn(stored, member))
  if (missing !== undefined) throw new TypeError(`A stored value lacks its member ${missing}.`)
  return stored as unknown as T
}

/** The same for a list of such values. @throws TypeError where one of them lacks a member */
export const fromJsonList = <T extends object>(
  stored: readonly JsonValue[],
  ...members: readonly (keyof T & string)[]
): readonly T[] => stored.map((each) => fromJson<T>(each, ...members))
