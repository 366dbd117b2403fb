/** Reads members of foreign values: what has another type counts as absent. */
import { type JsonValue, objectOf, listOf } from '../../base/json/json.ts'

export const foreignTextOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

export const textsOf = (value: JsonValue | undefined): readonly string[] =>
  listOf(value).filter((each): each is string => typeof each === 'string')

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
