/**
 * What a call does, in a sentence of the tool's author: `Refund 180 EUR for A-1042`. It is made of a label of the Tool document and
 * of arguments, which are a model's words: each stands there as one value, quoted unless it is a number or one plain word, and is
 * cut, so that none can add to the sentence. Source: docs/design/approvals.md#the-card
 */
import { shortenText } from '../../base/text/cut-text.ts'
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { isMoneyName } from '../../view/task/call-arguments.ts'
import { cacheTemplates } from './argument-template.ts'
import { argumentAt } from './path.ts'

export const CALL_SUMMARY = 'svc/summary'
export const SUMMARY_NOUN = 'A summary'

const templateOf = cacheTemplates(SUMMARY_NOUN)

/** Characters of one value. */
const MOST_OF_VALUE = 60
const MOST_CHARACTERS = 240

/** The summary of a call in one line, escaped; undefined for a tool without one, or with one that lint refuses. */
export function summaryOf(labels: Readonly<Record<string, string>> | undefined, args: JsonValue): string | undefined {
  const text = labels?.[CALL_SUMMARY]
  const read = text === undefined ? undefined : templateOf(text)
  if (!read || 'problem' in read) return undefined
  const parts = read.template.map((part) =>
    typeof part === 'string'
      ? safeText(part.replaceAll(/\s+/g, ' '))
      : showValue(part.path, argumentAt(args, part.path)),
  )
  return shortenText(parts.join(''), MOST_CHARACTERS)
}

/** A word that nobody takes for a sentence. */
const PLAIN_WORD = /^[A-Za-z0-9][\w.@#+/:-]*$/

function showValue(path: string, value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '(none)'
  if (typeof value === 'number')
    return isMoneyName(path) ? value.toLocaleString('en', { maximumFractionDigits: 20 }) : String(value)
  if (typeof value === 'string' && value.length <= MOST_OF_VALUE && PLAIN_WORD.test(value)) return value
  return typeof value === 'string'
    ? safeJson(shortenText(value, MOST_OF_VALUE))
    : shortenText(safeJson(value), MOST_OF_VALUE)
}
