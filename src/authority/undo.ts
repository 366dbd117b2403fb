/** How the undoing of a tool's calls changed. Source: docs/design/steering.md#undo */
import { NOTHING_UNDOES, UNDO_ARGUMENTS, UNDONE_BY } from '../policy/undo-mapping.ts'
import { versionChange, type ChangePlace, type VersionChange } from './change.ts'

type Labels = Readonly<Record<string, string>>

/** What undoes a call is decided by policies like any call, so no change widens authority. */
export function undoChanges(place: ChangePlace, was: Labels = {}, is: Labels = {}): readonly VersionChange[] {
  const [from, to] = [undoOf(was), undoOf(is)]
  if (from === to) {
    const [before, after] = [was[UNDO_ARGUMENTS] ?? null, is[UNDO_ARGUMENTS] ?? null]
    if (from === null || before === after) return []
    const say = `${place.tool}: undone by ${from} with other arguments`
    return [versionChange('undo.changed', { ...place, from: before, to: after, say })]
  }
  if (from === null)
    return [versionChange('undo.added', { ...place, from, to, say: `${place.tool}: undone by ${to} now` })]
  if (to === null)
    return [versionChange('undo.dropped', { ...place, from, to, say: `${place.tool}: no longer undone by ${from}` })]
  return [versionChange('undo.changed', { ...place, from, to, say: `${place.tool}: undone by ${from} → ${to}` })]
}

/** The tool that undoes; null where none does. */
const undoOf = ({ [UNDONE_BY]: by = NOTHING_UNDOES }: Labels): string | null => (by === NOTHING_UNDOES ? null : by)
