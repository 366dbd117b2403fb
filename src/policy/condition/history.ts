/** Texts of history measures. Source: docs/design/policies.md#what-history-counts */
import { writeDuration } from './duration.ts'

export type HistoryScope = 'run' | 'session' | 'window' | 'workspace'
export type HistorySubject = 'this_tool' | 'same_args' | 'all_tools'
export type HistoryMeasure = 'attempts' | 'executed' | 'denied' | 'rejected' | 'failed' | { readonly total: string }

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

/** Adds the path by whose value calls are counted, because that count is a value of its own. */
export const withKey = (path: string, by: string | undefined): string => (by === undefined ? path : `${path} by ${by}`)

/** Adds the window, because a measure over two windows is two values. */
export const inWindow = (path: string, windowMs: number | undefined): string =>
  windowMs === undefined ? path : `${path} (${writeDuration(windowMs)})`
