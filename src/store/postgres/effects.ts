import { EFFECTS } from '../nouns/effects.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { EffectChange } from '../session-update.ts'

/** A change of a save as the function that applies it reads it. */
export function toEffectColumns(change: EffectChange): object {
  if ('take' in change) return { take: EFFECTS.toRow(change.take) }
  if ('extend' in change) return { extend: EFFECTS.toRow(change.extend) }
  const { result, ...end } = change.end
  return { end: EFFECTS.toRow({ ...end, result: result === undefined ? null : toColumnText(result) }) }
}
