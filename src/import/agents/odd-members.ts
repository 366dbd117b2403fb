/** Says which members of a foreign value are not of the type that is read, since those count as absent. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { quoteForeign } from '../foreign-text.ts'
import type { LossList } from '../losses.ts'
import { numberOf } from './foreign-value.ts'

interface MemberForm {
  /** After "is no". */
  readonly noun: string
  readonly fits: (value: JsonValue) => boolean
}

const isText = (value: JsonValue): boolean => typeof value === 'string'
const areTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText)

const FORMS = {
  text: { noun: 'text', fits: isText },
  mapping: { noun: 'mapping', fits: isJsonObject },
  list: { noun: 'list', fits: Array.isArray },
  texts: { noun: 'list of texts', fits: areTexts },
  /** A list, or one text with commas. */
  names: { noun: 'list of names', fits: (value) => isText(value) || areTexts(value) },
  count: { noun: 'number above 0', fits: (value) => Number.isInteger(numberOf(value)) && Number(value) > 0 },
} satisfies Readonly<Record<string, MemberForm>>

/**
 * @param forms of the members that are read
 * @param authority those without which a call might be authorized, checked or directed otherwise
 */
export function reportOddMembers(
  value: JsonObject,
  forms: Readonly<Record<string, keyof typeof FORMS>>,
  at: string,
  losses: LossList,
  authority: readonly string[] = [],
): void {
  for (const [name, form] of Object.entries(forms)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const { noun, fits } = FORMS[form]
    if (given === undefined || given === null || fits(given)) continue
    const what =
      Array.isArray(given) && noun.startsWith('list')
        ? 'has entries that are no texts, which are not carried'
        : `is no ${noun} and is not carried`
    losses.add(at, `${quoteForeign(name)} ${what}`, authority.includes(name))
  }
}
