/** Completions and tool calls that the state of a session asks for. */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { ToolCall, Run } from '../../spec/run/run.ts'
import type { SessionTree } from '../../store/session-update.ts'
import { completionKey, dispatchKey } from '../session/keys.ts'
import { isReadyToLeave } from '../calls/calls.ts'

export type RunEffect =
  | {
      readonly do: 'complete'
      readonly key: string
      readonly runId: RunId
      readonly turn: number
      readonly attempt: number
      /** Attempts, not counting those lost when their process ended. */
      readonly tries: number
      readonly room?: number
      readonly note?: JsonObject
    }
  | {
      readonly do: 'invoke'
      readonly key: string
      readonly runId: RunId
      readonly turn: number
      readonly call: ToolCall
    }

/** Effects that should be in flight. They follow from the stored state alone, so recovery starts the same ones. */
export const effectsOf = (tree: SessionTree): readonly RunEffect[] => tree.runs.flatMap(effectsOfRun)

function effectsOfRun({ id, state }: Run): RunEffect[] {
  if (state.at === 'thinking') {
    if (state.unsent) return []
    const { turn, attempt, lost = 0, room, note } = state
    const key = completionKey(id, turn, attempt)
    const effect = { do: 'complete', key, runId: id, turn, attempt, tries: attempt - lost } as const
    return [{ ...effect, ...(room !== undefined && { room }), ...(note && { note }) }]
  }
  if (state.at !== 'calling') return []
  return state.calls
    .filter((call) => call.state.at === 'sent')
    .map((call) => ({ do: 'invoke', key: dispatchKey(id, call.id, call.attempt), runId: id, turn: state.turn, call }))
}

/**
 * Keys of dispatches whose outcome is unknown: if one is in flight in this process nevertheless, it may still end the
 * review of its call.
 */
export const unknownKeys = (tree: SessionTree): ReadonlySet<string> =>
  new Set(
    tree.runs.flatMap(({ id, state }) =>
      state.at === 'calling'
        ? state.calls
            .filter((call) => call.state.at === 'unknown')
            .map((call) => dispatchKey(id, call.id, call.attempt))
        : [],
    ),
  )

/** Keys that the dispatches of calls waiting for a slot will have. */
export const waitingKeys = (tree: SessionTree): ReadonlySet<string> =>
  new Set(
    tree.runs.flatMap(({ id, state }) =>
      state.at === 'calling'
        ? state.calls.filter(isReadyToLeave).map((call) => dispatchKey(id, call.id, call.attempt))
        : [],
    ),
  )
