/** Texts of history measures. Source: policies, section 2, root `history`. */
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

/** A measure of the calls with one value at a path is another one than that of all calls. */
export const withKey = (path: string, by: string | undefined): string => (by === undefined ? path : `${path} by ${by}`)

/** The same measure over two windows is two values, so the window is part of the text. */
export const inWindow = (path: string, windowMs: number | undefined): string =>
  windowMs === undefined ? path : `${path} (${writeDuration(windowMs)})`
