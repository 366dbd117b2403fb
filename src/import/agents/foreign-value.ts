/** Reads members of foreign values: what has another type counts as absent. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'

export const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

export const foreignTextOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

export const foreignListOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

export const textsOf = (value: JsonValue | undefined): readonly string[] =>
  foreignListOf(value).filter((each): each is string => typeof each === 'string')

/** A number, or a text of digits, as front matter that is read line by line has it. */
export const numberOf = (value: JsonValue | undefined): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Members that are texts, numbers or truth values, as texts. */
export const textMembersOf = (value: JsonValue | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(value)).flatMap(([key, each]) =>
      typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean' ? [[key, String(each)]] : [],
    ),
  )

/** A list as such, or as one text with commas. */
export const namesOf = (value: JsonValue | undefined): readonly string[] =>
  (typeof value === 'string' ? value.split(',') : textsOf(value))
    .map((each) => each.trim())
    .filter((each) => each !== '')
