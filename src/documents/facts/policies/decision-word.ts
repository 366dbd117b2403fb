import { decisionOf } from './decision.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { joinWords } from '../../../base/text/text-parts.ts'

/** The check that a text of a policy's decision is one of a few words. */
export const checkDecisionWord =
  (field: string, words: readonly string[]): NonNullable<LintRule['check']> =>
  (document, report) => {
    const value = decisionOf(document)[field]
    if (typeof value !== 'string' || words.includes(value)) return
    const place = document.placeOf(`/spec/decision/${field}`)
    const near = nearestCandidate(value, words)
    report(place, `${field} must be ${joinWords(words, 'or')}, but is "${value}".`, {
      ...(near !== undefined && { fix: replaceScalarFix(place, near) }),
    })
  }
