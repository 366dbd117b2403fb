/** Measures of what happened before, as conditions name them. Source: policies, section 2, root `history`. */
import type { CallFacts, HistoryMeasure, HistoryScope, HistorySubject } from './decision.ts'
import { writeDuration } from './duration.ts'

/** `history.window.this_tool.total(args.amount) (10m)`; the window only where there is one. */
export function historyText(
  scope: HistoryScope,
  whose: HistorySubject,
  measure: HistoryMeasure,
  windowMs?: number,
): string {
  return inWindow(
    `history.${scope}.${whose}.${typeof measure === 'string' ? measure : `total(${measure.total})`}`,
    windowMs,
  )
}

/** One text for each measure: those of two windows are two values. */
export const inWindow = (path: string, windowMs: number | undefined): string =>
  windowMs === undefined ? path : `${path} (${writeDuration(windowMs)})`

/** What a decision asked of history and was told, by `historyText`; null = nobody could tell. */
export type HistorySeen = Readonly<Record<string, number | null>>

/** The facts, and what will have been asked of their history. */
export function recordHistoryReads(facts: CallFacts): { readonly facts: CallFacts; readonly seen: HistorySeen } {
  const seen: Record<string, number | null> = {}
  return {
    seen,
    facts: {
      ...facts,
      history(...asked) {
        const value = facts.history(...asked)
        seen[historyText(...asked)] = value ?? null
        return value
      },
    },
  }
}
