/** Watches how calls change in a simulation: which moves their handles make, and whether anything else changed a state that is saved. */
import { callMoves } from '../../src/engine/transaction/call-moves.ts'
import { CallHandle } from '../../src/engine/transaction/call-handle.ts'
import type { CallState, RunState, ToolCall } from '../../src/spec/run/run.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'
import type { Store } from '../../src/store/store.ts'

type CallStateName = CallState['at']

const STATES = Object.keys(callMoves) as CallStateName[]

/** The rows of the table, in its order: `proposed ready`. */
export const CALL_MOVES: readonly string[] = STATES.flatMap((from) =>
  Object.keys(callMoves[from]).map((to) => `${from} ${to}`),
)

export interface CallMoveWatch {
  /** Rows of the table that were taken. */
  readonly taken: ReadonlySet<string>
  /** Moves that the table refused, and saved states to which no move led. */
  readonly broken: readonly string[]
  /** A store whose saves are checked. */
  watch(store: Store): Store
  end(): void
}

/** Begins to watch all calls of this process. One watch at a time. */
export function watchCallMoves(): CallMoveWatch {
  const taken = new Set<string>()
  const broken: string[] = []
  /** Moves of each call, also those of transactions that were not saved. */
  const moves = new Map<string, Set<string>>()
  const saved = new Map<string, CallState>()
  const real = Object.getOwnPropertyDescriptor(CallHandle.prototype, 'to') as { value: CallHandle['to'] }

  CallHandle.prototype.to = function (this: CallHandle, ...[state, change]: Parameters<CallHandle['to']>) {
    const move = `${this.record.state.at} ${state.at}`
    try {
      const moved = real.value.call(this, state, change)
      const key = `${this.run.id} ${this.record.id}`
      moves.set(key, (moves.get(key) ?? new Set()).add(move))
      taken.add(move)
      return moved
    } catch (error) {
      broken.push(`refused: a call from ${move.replace(' ', ' to ')}`)
      throw error
    }
  }

  function check({ runs }: Pick<SessionUpdate, 'runs'>): void {
    for (const { id, state } of runs) {
      for (const call of callsOf(state)) {
        const key = `${id} ${call.id}`
        const before = saved.get(key) ?? { at: 'proposed' }
        const isSame = JSON.stringify(before) === JSON.stringify(call.state)
        if (!isSame && !leadsTo(moves.get(key) ?? new Set(), before.at, call.state.at))
          broken.push(`unseen: call ${call.id} came from ${before.at} to ${call.state.at}`)
        saved.set(key, call.state)
      }
    }
  }

  return {
    taken,
    broken,
    watch: (store) => ({
      ...store,
      async start(...given) {
        const outcome = await store.start(...given)
        check(given[0])
        return outcome
      },
      async save(...given) {
        const lease = await store.save(...given)
        check(given[0])
        return lease
      },
    }),
    end: () => void Object.defineProperty(CallHandle.prototype, 'to', real),
  }
}

function callsOf(state: RunState): readonly ToolCall[] {
  if (state.at === 'calling') return state.calls
  if (state.at === 'held') return callsOf(state.then)
  return state.at === 'done' && state.from ? callsOf(state.from) : []
}

/** True if these moves lead from one state to another, by one move at least. */
function leadsTo(moves: ReadonlySet<string>, from: CallStateName, to: CallStateName): boolean {
  const reached = new Set<string>()
  const next: string[] = [from]
  for (let here = next.pop(); here !== undefined; here = next.pop()) {
    for (const state of STATES) {
      if (reached.has(state) || !moves.has(`${here} ${state}`)) continue
      reached.add(state)
      next.push(state)
    }
  }
  return reached.has(to)
}
