/** Orders the arguments of a held call: first the one that stopped it, then money and recipients. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { DecidedPolicy } from '../../spec/step.ts'

/** `deciding`: a policy that stopped the call compares it. */
export type ArgumentWeight = 'deciding' | 'money' | 'recipient'

export interface WeighedArgument {
  readonly name: string
  readonly value: JsonValue
  readonly weights: readonly ArgumentWeight[]
  /** The comparison that stopped the call, for example `args.amount > 100`; not escaped. */
  readonly limit?: string
  /** Document and line of that comparison; not escaped. */
  readonly place?: string
}

/** Arguments with what stopped the call first, then money, then recipients, then the others as they were given. */
export function weighArguments(
  args: Readonly<Record<string, JsonValue>>,
  policies: readonly DecidedPolicy[],
): readonly WeighedArgument[] {
  const limits = policies.flatMap(({ condition = '', source }) =>
    splitComparisons(condition).map((comparison) => ({
      ...comparison,
      ...(source !== undefined && { place: source }),
    })),
  )
  return Object.entries(args)
    .map(([name, value]): WeighedArgument => {
      const limit = limits.find((each) => each.argument === name)
      const weights: ArgumentWeight[] = []
      if (limit) weights.push('deciding')
      if (isMoneyName(name) && isAmount(value)) weights.push('money')
      if (isRecipientName(name)) weights.push('recipient')
      return {
        name,
        value,
        weights,
        ...(limit && { limit: limit.text }),
        ...(limit?.place !== undefined && { place: limit.place }),
      }
    })
    .toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** The currency that the arguments name, for example `EUR`. */
export function currencyOf(args: JsonValue | undefined): string | undefined {
  if (!isJsonObject(args)) return undefined
  const [, value] = Object.entries(args).find(([name]) => /^currency(?:_?code)?$/i.test(name)) ?? []
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value : undefined
}

const ORDER: readonly ArgumentWeight[] = ['deciding', 'money', 'recipient']

const rankOf = ({ weights }: WeighedArgument): number => (weights[0] ? ORDER.indexOf(weights[0]) : ORDER.length)

const MONEY: ReadonlySet<string> = new Set(
  'amount total price sum cost fee charge payment balance budget salary'
    .split(' ')
    .flatMap((each) => [each, `${each}s`]),
)

/** Whether a name or path of an argument says that its value is money: `args.refund_amount`. */
export const isMoneyName = (name: string): boolean => MONEY.has(lastWordOf(name))

const RECIPIENT: ReadonlySet<string> = new Set(
  'to cc bcc recipient receiver email iban account payee beneficiary phone url host channel destination'
    .split(' ')
    .flatMap((each) => [each, `${each}s`]),
)

/** Whether a name of an argument says who gets something: `to`, `payee_iban`. */
export const isRecipientName = (name: string): boolean => RECIPIENT.has(lastWordOf(name))

/** The last word of a name tells its meaning: `refund_amount`, `totalPrice`. */
const lastWordOf = (name: string): string =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .findLast((word) => word !== '') ?? ''

const isAmount = (value: JsonValue): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^[+-]?[\d.,]+$/.test(value))

/**
 * The comparisons of a described condition that concern an argument, without the values they saw:
 * `args.amount > 100 (180) and args.to in [..] ("x")` gives `args.amount > 100` and `args.to in [..]`.
 */
export function splitComparisons(condition: string): readonly { readonly argument: string; readonly text: string }[] {
  return splitOutsideQuotes(condition).flatMap((part) => {
    const text = part.trim().replace(/^(?:not )?\(+/, '')
    const [, argument] = /^(?:(?:each|any|every|some|all|none|no) )?args\.([A-Za-z_$][\w$-]*)/.exec(text) ?? []
    return argument === undefined ? [] : [{ argument, text: withoutSeenValue(text) }]
  })
}

/** Without the last parenthesis, which has the value that was seen. */
function withoutSeenValue(text: string): string {
  const open = maskStrings(text).lastIndexOf(' (')
  return open > 0 ? text.slice(0, open) : text
}

function splitOutsideQuotes(text: string): string[] {
  const masked = maskStrings(text)
  const parts: string[] = []
  let from = 0
  for (const match of masked.matchAll(/ (?:and|or) /g)) {
    parts.push(text.slice(from, match.index))
    from = match.index + match[0].length
  }
  return [...parts, text.slice(from)]
}

/** Blanks the content of JSON strings, so that no value can look like a comparison; every index stays valid. */
const maskStrings = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*(?:"|$)/g, (found) => '"'.repeat(found.length))
