/** Measures of what happened before, as conditions name them. Source: policies, section 2, root `history`. */
import type { Facts, Measure, Scope, Whose } from './decision.ts'
import { writeDuration } from './duration.ts'

/** `history.window.this_tool.total(args.amount) (10m)`; the window only where there is one. */
export function historyText(scope: Scope, whose: Whose, measure: Measure, windowMs?: number): string {
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
export function noting(facts: Facts): { readonly facts: Facts; readonly seen: HistorySeen } {
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
