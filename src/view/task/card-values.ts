/** Values on a card: untrusted, so each is escaped and stands in its own line. */
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { DecidedPolicy } from '../../spec/step.ts'
import type { TaskEvidence } from '../../spec/task.ts'
import { currencyOf, weighArguments, type ArgumentWeight } from './call-arguments.ts'

export interface CardValue {
  /** Empty where the value is not an object, and so has no names. */
  readonly name: string
  /** As JSON in one line, whole. */
  readonly text: string
  /** A text of several lines, each escaped as in JSON but for its quotes; absent for every other value. */
  readonly lines?: readonly string[]
  readonly value: JsonValue
  /** Reasons for attention, strongest first; absent if there are none. */
  readonly weights?: readonly ArgumentWeight[]
  /** Currency of an amount. */
  readonly unit?: string
  /** The comparison that stopped the call, and its place in the documents. */
  readonly limit?: string
  readonly place?: string
}

export const toArgumentValues = (args: JsonValue, policies: readonly DecidedPolicy[]): CardValue[] => {
  if (!isJsonObject(args)) return toCardValues(args)
  const currency = currencyOf(args)
  return weighArguments(args, policies).map(({ name, value, weights, limit, place }) => ({
    ...toCardValue(name, value),
    ...(weights.length > 0 && { weights }),
    ...(weights.includes('money') && currency !== undefined && { unit: safeText(currency) }),
    ...(limit !== undefined && { limit: safeText(limit) }),
    ...(place !== undefined && { place: safeText(place) }),
  }))
}

export const toCardValues = (value: JsonValue): CardValue[] =>
  isJsonObject(value)
    ? Object.entries(value).map(([name, each]) => toCardValue(name, each))
    : [toCardValue(undefined, value)]

function toCardValue(name: string | undefined, value: JsonValue): CardValue {
  const isBlock = typeof value === 'string' && value.trimEnd().includes('\n')
  return {
    name: name === undefined ? '' : safeJson(name).slice(1, -1),
    text: safeJson(value),
    ...(isBlock && {
      lines: value.split('\n').map((line) =>
        safeJson(line)
          .slice(1, -1)
          .replaceAll(String.raw`\"`, '"'),
      ),
    }),
    value,
  }
}

/** `age (required)  {"type":"integer","minimum":18}`. */
export const describeField = (name: string, field: JsonObject, isNeeded: boolean): CardValue => ({
  ...toCardValue(name, field),
  name: `${safeJson(name).slice(1, -1)}${isNeeded ? ' (required)' : ''}`,
})

/** `acme.fraud-check (about order)  {"risk":"low"}`. */
export const toEvidenceValue = ({ ref, about, result, failed }: TaskEvidence): CardValue => ({
  name: safeText([ref, ...(about.length > 0 ? [`(about ${about.join(', ')})`] : [])].join(' ')),
  text: safeText(failed ? `failed: ${result}` : result),
  value: result,
})
