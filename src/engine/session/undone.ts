/** The calls that runs undo. Source: docs/design/steering.md#undo */
import { shortenText } from '../../base/text/cut-text.ts'
import type { RunId } from '../../base/ids.ts'
import { boundedKey, type EffectKey } from '../../policy/condition/effect-key.ts'
import { isTerminal, undoneCallOf, type CallReference, type Run } from '../../spec/run/run.ts'
import type { CallRow } from '../../store/session-update.ts'

/**
 * The effect key of the call that undoes another one, where its tool has none of its own: it names the undone call, so that
 * a call is not undone twice. Undefined for a run that undoes nothing.
 */
export function undoKeyOf(run: Pick<Run, 'origin'>): EffectKey | undefined {
  const undone = undoneCallOf(run)
  return undone && boundedKey(`undo:${undone.runId}:${undone.callId}`)
}

/** State of the undo of a call. */
export type UndoState =
  /** Not tried yet, or tried and certainly not made. `failed` is the newest run that tried. */
  | { readonly at: 'open'; readonly failed?: Run }
  | { readonly at: 'under_way'; readonly run: Run }
  /** The undoing call has an unknown outcome. */
  | { readonly at: 'unknown'; readonly run: Run }
  | { readonly at: 'undone'; readonly run: Run }

/**
 * @param runs all runs of the session
 * @param rows all calls of the session
 */
export function undoStateOf(call: CallReference, runs: readonly Run[], rows: readonly CallRow[]): UndoState {
  const run = runs.findLast((each) => {
    const undone = undoneCallOf(each)
    return undone?.runId === call.runId && undone.callId === call.callId
  })
  if (!run) return { at: 'open' }
  if (!isTerminal(run.status)) return { at: 'under_way', run }
  const state = rows.find(({ runId }) => runId === run.id)?.state
  if (run.status === 'Completed' || state === 'executed') return { at: 'undone', run }
  return state === 'unknown' ? { at: 'unknown', run } : { at: 'open', failed: run }
}

/** True where something that these runs did was undone, is being undone, or may have been. */
export const isPartlyUndone = (runs: readonly Run[], rows: readonly CallRow[]): boolean =>
  runs.some((run) => {
    const undone = undoneCallOf(run)
    return undone !== undefined && undoStateOf(undone, runs, rows).at !== 'open'
  })

/** A call that was undone, or may have been, after its model got the result. */
export interface UndoneNote {
  readonly call: CallReference
  readonly at: Exclude<UndoState['at'], 'open'>
  /** The tool and its arguments. */
  readonly what: string
  /** The run that made the call, and those above it. */
  readonly path: readonly RunId[]
}

/** Characters shown of the arguments of a call. */
const MAX_ARGUMENTS = 300
/** Calls that are listed one by one. */
const MAX_TOLD = 20

/**
 * The calls of a session that were undone, are being undone, or may have been.
 * @param runs all runs of the session
 * @param readRows all calls of the session; read only where a run undoes something
 */
export function undoneNotes(runs: readonly Run[], readRows: () => readonly CallRow[]): readonly UndoneNote[] {
  const undoing = runs.filter((run) => undoneCallOf(run))
  if (undoing.length === 0) return []
  const rows = readRows()
  const notes = new Map<string, UndoneNote>()
  for (const run of undoing) {
    const undone = undoneCallOf(run)
    const call = undone && { runId: undone.runId, callId: undone.callId }
    const at = call && undoStateOf(call, runs, rows).at
    if (!call || at === undefined || at === 'open') continue
    const row = rows.find(({ runId, callId }) => runId === call.runId && callId === call.callId)
    const given = row ? ` ${JSON.stringify(row.arguments)}` : ''
    const shown = shortenText(given, MAX_ARGUMENTS)
    notes.set(`${call.runId} ${call.callId}`, { call, at, what: undone.tool + shown, path: pathOf(call.runId, runs) })
  }
  return [...notes.values()]
}

function pathOf(id: RunId | null, runs: readonly Run[]): readonly RunId[] {
  const run = runs.find((each) => each.id === id)
  return run ? [run.id, ...pathOf(run.parentRunId, runs)] : []
}

/** The note for a model about these calls; undefined if there are none. */
export function tellUndone(notes: readonly UndoneNote[]): string | undefined {
  const list = (some: readonly UndoneNote[]): string => {
    const more = some.length - MAX_TOLD
    return [...some.slice(0, MAX_TOLD).map(({ what }) => what), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  }
  const [gone, open] = [notes.filter(({ at }) => at === 'undone'), notes.filter(({ at }) => at !== 'undone')]
  const parts = [
    ...(gone.length > 0 ? [`An operator has undone since, so that it no longer stands: ${list(gone)}.`] : []),
    ...(open.length > 0 ? [`An operator is undoing, or may have undone: ${list(open)}.`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}
