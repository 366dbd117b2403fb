/** Which values can be attributed to a source, and where a value occurs. Source: docs/design/policies.md#where-a-value-comes-from */
import type { JsonValue } from '../../base/json/json.ts'
import { ownMember } from '../../base/json/own-member.ts'

const MIN_CHARACTERS = 4
const MIN_DIGITS = 5

/** True for a value that is unlikely to occur by chance; other values are never attributed to a source. */
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

/** Thrown when the budget is used up. */
export class SearchExhausted extends Error {}

/** Bounds of the search; beyond them the sources are unknown. */
export class SearchBudget {
  private values: number
  private characters: number
  private readonly whole: SearchBudget | undefined

  /** @param whole budget that is charged too */
  constructor(values = 100_000, characters = 8 * 1024 * 1024, whole?: SearchBudget) {
    this.values = values
    this.characters = characters
    this.whole = whole
  }

  /** @throws SearchExhausted */
  takeValue(): void {
    if (--this.values < 0) throw new SearchExhausted()
    this.whole?.takeValue()
  }

  /** @throws SearchExhausted */
  takeCharacters(count: number): void {
    this.characters -= count
    if (this.characters < 0) throw new SearchExhausted()
    this.whole?.takeCharacters(count)
  }
}

/** Budget of all searches for one decision, whose policies may ask about each element of a list. */
export const newDecisionBudget = (): SearchBudget => new SearchBudget(1_000_000, 64 * 1024 * 1024)
/** Budget of the search for one value. */
export const newSearchBudget = (decision?: SearchBudget): SearchBudget =>
  new SearchBudget(undefined, undefined, decision)

/** Cost of searching one place, besides its characters. */
const PLACE = 8

/** Searches a value for another one: typed, by canonical text, and texts also as tokens of texts. */
export function findValue(sought: JsonValue, within: JsonValue, budget: SearchBudget): ValueOccurrence {
  let [isWhole, isToken] = [false, false]
  const isParts = typeof sought === 'object' && sought !== null
  const lookInText = (text: string, isKey: boolean): void => {
    budget.takeCharacters(text.length)
    if (typeof sought !== 'string') return
    // The name of a member is handed over, but not as a value.
    if (text === sought && !isKey) isWhole = true
    else if (!isToken && containsToken(text, sought, budget)) isToken = true
  }
  const visit = (value: JsonValue): void => {
    budget.takeValue()
    if (typeof value === 'string') return lookInText(value, false)
    if (typeof value !== 'object' || value === null) {
      if (value === sought) isWhole = true
      return
    }
    if (isParts && !isWhole && isSame(value, sought, budget)) isWhole = true
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

/** True for values with the same canonical text. Ends at the first difference, so that values which are alike cost no more than others. */
function isSame(a: JsonValue, b: JsonValue | undefined, budget: SearchBudget): boolean {
  budget.takeCharacters(PLACE)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) budget.takeCharacters(a.length)
    return a === b
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((each, at) => isSame(each, b[at], budget))
    )
  const entries = Object.entries(a)
  return (
    entries.length === Object.keys(b).length && entries.every(([key, each]) => isSame(each, ownMember(b, key), budget))
  )
}

/** Longer tokens are looked for by their beginning: searching a text takes time that grows with both, where both repeat themselves. */
const BEGINNING = 32

/** True if the text has the token with no letter or digit beside it, and no sign between that joins it to one. */
function containsToken(text: string, token: string, budget: SearchBudget): boolean {
  // oxlint-disable-next-line typescript/no-deprecated -- Half a pair may be searched for: the whole token is compared next.
  const beginning = token.slice(0, BEGINNING)
  const before: JoinerRun = { from: 0, to: -1, isJoined: false }
  const after: JoinerRun = { from: 0, to: -1, isJoined: false }
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
    budget.takeCharacters(PLACE + token.length)
    if (!text.startsWith(token, at)) continue
    if (!isJoined(text, at - 1, -1, before) && !isJoined(text, at + token.length, 1, after)) return true
  }
  return false
}

/** Joining signs that were looked at, in one direction: what follows them is the same for each. */
interface JoinerRun {
  from: number
  to: number
  isJoined: boolean
}

const WORD = /[\p{L}\p{N}\p{M}]/u
const JOINERS = '@._+-/:'

/** True if what stands at `at` belongs to the token beside it. */
function isJoined(text: string, at: number, step: 1 | -1, run: JoinerRun): boolean {
  if (at >= run.from && at <= run.to) return run.isJoined
  const here = characterAt(text, at, step)
  if (here === '') return false
  if (WORD.test(here)) return true
  if (!JOINERS.includes(here)) return false
  let next = at + step
  while (JOINERS.includes(text[next] ?? ' ')) {
    // The rest is known.
    if (next >= run.from && next <= run.to) {
      run.from = Math.min(run.from, at)
      run.to = Math.max(run.to, at)
      return run.isJoined
    }
    next += step
  }
  run.from = Math.min(at, next - step)
  run.to = Math.max(at, next - step)
  run.isJoined = WORD.test(characterAt(text, next, step))
  return run.isJoined
}

/** The character at a place, which may be half of a pair in the direction of `step`. */
function characterAt(text: string, at: number, step: 1 | -1): string {
  const unit = text.charCodeAt(at)
  if (Number.isNaN(unit)) return ''
  const isHalf = step === 1 ? unit >= 0xd800 && unit < 0xdc00 : unit >= 0xdc00 && unit < 0xe000
  if (!isHalf) return text.charAt(at)
  return step === 1 ? text.slice(at, at + 2) : text.slice(Math.max(0, at - 1), at + 1)
}
