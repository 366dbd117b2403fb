/** Which values say by themselves where they come from, and where a value occurs. Source: policies, section 2.1. */
import { canonicalJson, isJsonObject, type JsonValue } from '../../base/json/json.ts'

const MIN_CHARACTERS = 4
const MIN_DIGITS = 5

/** True for a value that hardly occurs by chance; others are never attributed to anybody. */
export function isAttributable(value: JsonValue): boolean {
  if (typeof value === 'string') return value.length >= MIN_CHARACTERS && Array.from(value).length >= MIN_CHARACTERS
  if (typeof value === 'number') return significantDigits(value) >= MIN_DIGITS
  if (typeof value !== 'object' || value === null) return false
  return (Array.isArray(value) ? value : Object.values(value)).some(isAttributable)
}

/** Digits of a number without leading zeros, and without trailing zeros of an integer: 1500 has two. */
function significantDigits(value: number): number {
  const digits = Math.abs(value).toString().replace(/e.*$/, '').replace('.', '').replace(/^0+/, '')
  return (Number.isInteger(value) ? digits.replace(/0+$/, '') : digits).length
}

/** Where a value stands: as a value of its own, or as a whole token of a longer text. */
export interface ValueOccurrence {
  readonly isWhole: boolean
  readonly isToken: boolean
}

/** What was handed over is searched up to this; beyond it nobody can tell any more. */
export interface SearchBudget {
  values: number
  characters: number
}

export const newSearchBudget = (): SearchBudget => ({ values: 100_000, characters: 8 * 1024 * 1024 })

/** Thrown when the budget is used up. */
export class SearchExhausted extends Error {}

/** Searches a value for another one: typed, by canonical text, and texts also as tokens of texts. */
export function findValue(sought: JsonValue, within: JsonValue, budget: SearchBudget): ValueOccurrence {
  let [isWhole, isToken] = [false, false]
  const canonical = typeof sought === 'object' && sought !== null ? canonicalJson(sought) : undefined
  const lookInText = (text: string, isKey: boolean): void => {
    budget.characters -= text.length
    if (budget.characters < 0) throw new SearchExhausted()
    if (typeof sought !== 'string') return
    // The name of a member is handed over, but not as a value.
    if (text === sought && !isKey) isWhole = true
    else if (!isToken && containsToken(text, sought)) isToken = true
  }
  const visit = (value: JsonValue): void => {
    if (--budget.values < 0) throw new SearchExhausted()
    if (typeof value === 'string') return lookInText(value, false)
    if (typeof value !== 'object' || value === null) {
      if (value === sought) isWhole = true
      return
    }
    if (canonical !== undefined && !isWhole && isLike(value, sought) && canonicalJson(value) === canonical)
      isWhole = true
    if (Array.isArray(value)) for (const each of value) visit(each)
    else
      for (const [key, each] of Object.entries(value)) {
        lookInText(key, true)
        visit(each)
      }
  }
  visit(within)
  return { isWhole, isToken }
}

/** Cheap first comparison of two lists or objects. */
const isLike = (value: JsonValue, sought: JsonValue): boolean =>
  Array.isArray(value)
    ? Array.isArray(sought) && value.length === sought.length
    : isJsonObject(value) && isJsonObject(sought) && Object.keys(value).length === Object.keys(sought).length

/** True if the text has the token with no letter or digit beside it, and no sign between that joins it to one. */
function containsToken(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at !== -1; at = text.indexOf(token, at + 1))
    if (!isJoined(text, at - 1, -1) && !isJoined(text, at + token.length, 1)) return true
  return false
}

const WORD = /[\p{L}\p{N}\p{M}]/u
const JOINERS = '@._+-/:'

/** True if what stands at `at` belongs to the token beside it. */
function isJoined(text: string, at: number, step: 1 | -1): boolean {
  const here = characterAt(text, at, step)
  if (here === '') return false
  if (WORD.test(here)) return true
  if (!JOINERS.includes(here)) return false
  let next = at + step
  while (JOINERS.includes(text[next] ?? ' ')) next += step
  return WORD.test(characterAt(text, next, step))
}

/** The character at a place, which may be half of a pair in the direction of `step`. */
function characterAt(text: string, at: number, step: 1 | -1): string {
  const unit = text.charCodeAt(at)
  if (Number.isNaN(unit)) return ''
  const isHalf = step === 1 ? unit >= 0xd800 && unit < 0xdc00 : unit >= 0xdc00 && unit < 0xe000
  if (!isHalf) return text[at]!
  return step === 1 ? text.slice(at, at + 2) : text.slice(Math.max(0, at - 1), at + 1)
}
