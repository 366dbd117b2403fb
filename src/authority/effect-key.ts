/**
 * How the effect key of a tool changed: what stops a repetition, for how long, and what follows.
 * Source: docs/design/policies.md#effect-keys
 */
import { EFFECT_KEY, effectRepeatOf, effectWindowOf } from '../policy/condition/effect-key.ts'
import type { BoundTool } from '../spec/snapshot.ts'
import { versionChange, type ChangePlace, type VersionChange } from './change.ts'

export function effectChanges(place: ChangePlace, was: BoundTool, is: BoundTool): readonly VersionChange[] {
  const [from, to] = [was.labels[EFFECT_KEY], is.labels[EFFECT_KEY]]
  const change = (isLooser: boolean, before: string | null, after: string | null, what: string): VersionChange =>
    versionChange(isLooser ? 'effect_key.loosened' : 'effect_key.tightened', {
      ...place,
      from: before,
      to: after,
      say: `${place.tool}: ${what}`,
    })
  if (to === undefined)
    return from === undefined ? [] : [change(true, from, null, `no effect key: what ${from} named can be done twice`)]
  if (from === undefined) return [change(false, null, to, `effect key ${to}: a repetition is stopped`)]
  // Calls that took a key under another text are not found under the new one.
  if (from !== to) return [change(true, from, to, `effect key ${from} → ${to}: earlier calls are not found`)]
  const changes: VersionChange[] = []
  const [before, after] = [was, is].map(({ labels }) => effectWindowOf(labels) ?? Infinity) as [number, number]
  if (before !== after)
    changes.push(change(after < before, windowText(was), windowText(is), `effect key held for ${windowText(is)}`))
  const repeatOf = ({ labels, sideEffectClass }: BoundTool) => effectRepeatOf(labels, sideEffectClass)
  const [old, now] = [repeatOf(was), repeatOf(is)]
  if (old !== now)
    changes.push(change(STRICTNESS.indexOf(now) > STRICTNESS.indexOf(old), old, now, `a repetition: ${old} → ${now}`))
  return changes
}

/** `return` does nothing again, so it lets less happen than `ask`. */
const STRICTNESS = ['refuse', 'return', 'ask'] as const

const windowText = ({ labels }: BoundTool): string => labels['svc/effect-window'] ?? 'ever'
