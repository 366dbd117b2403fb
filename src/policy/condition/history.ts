/** Texts of history measures, and a record of those a decision read. Source: policies, section 2, root `history`. */
import type { CallFacts, HistoryMeasure, HistoryScope, HistorySubject } from './decision.ts'
import { writeDuration } from './duration.ts'

/** `history.window.this_tool.total(args.amount) (10m)`; without the window where there is none. */
export function historyText(
  scope: HistoryScope,
  whose: HistorySubject,
  measure: HistoryMeasure,
  windowMs?: number,
  by?: string,
): string {
  return inWindow(
    withKey(`history.${scope}.${whose}.${typeof measure === 'string' ? measure : `total(${measure.total})`}`, by),
    windowMs,
  )
}

/** A measure of the calls with one value at a path is another one than that of all calls. */
export const withKey = (path: string, by: string | undefined): string => (by === undefined ? path : `${path} by ${by}`)

/** The same measure over two windows is two values, so the window is part of the text. */
export const inWindow = (path: string, windowMs: number | undefined): string =>
  windowMs === undefined ? path : `${path} (${writeDuration(windowMs)})`

/** The history measures that a decision read, by `historyText`; null = unknown. */
export type HistorySeen = Readonly<Record<string, number | null>>

/** The facts with a `history` that records each measure it returns in `seen`. */
export function recordHistoryReads(facts: CallFacts): { readonly facts: CallFacts; readonly seen: HistorySeen } {
  const seen: Record<string, number | null> = {}
  return {
    seen,
    facts: {
      ...facts,
      history(...measure) {
        const value = facts.history(...measure)
        seen[historyText(...measure)] = value ?? null
        return value
      },
    },
  }
}
