/** Outside events during a scenario: signals, completions of external work, messages, and pauses by operators. */
import { parseDuration } from '../base/duration.ts'
import type { Instant } from '../base/clock.ts'
import type { RunId } from '../base/ids.ts'
import type { JsonValue } from '../base/json/json.ts'
import type { MessageAccepted } from '../spec/api.ts'
import type { Run } from '../spec/run/run.ts'
import type { PauseTarget } from '../spec/steer/pause.ts'
import type { Engine } from '../engine/interface/engine.ts'
import type { Toolbox } from '../tools/tool.ts'

/** The paused thing by its kind: its name, or true for everything. */
export type PausedSubject = Partial<Readonly<Record<PauseTarget['kind'], string | true>>>

/** Has one of these members besides `after`, with the options of that member. Each event happens once. */
export interface OutsideEvent {
  /** Name of what `svc.wait_event` waits for. */
  readonly signal?: string
  readonly data?: JsonValue
  /** Logical id of the tool whose call ends. */
  readonly complete?: string
  readonly result?: JsonValue
  readonly error?: string
  /** Text of a message to the working run. */
  readonly steer?: string
  readonly interrupt?: string
  readonly pause?: PausedSubject
  readonly resume?: PausedSubject
  /** From the beginning of the wait that a signal or a report ends, else from the start of the run; at once when absent. */
  readonly after?: string
}

/** An event that is due at a time: at the wait of a call that it ends, or at the run itself. */
export interface DueEvent {
  readonly event: OutsideEvent
  readonly runId: RunId
  readonly callId?: string
  readonly at: Instant
}

/** True for an act on the run, false for an event that ends a wait. */
const isAct = ({ steer, interrupt, pause, resume }: OutsideEvent): boolean =>
  [steer, interrupt, pause, resume].some((each) => each !== undefined)

/** True for a pause that is set before the run starts. */
export const isBeforeStart = ({ pause, after }: OutsideEvent): boolean => pause !== undefined && after === undefined

const delayOf = ({ after }: OutsideEvent): number => (after === undefined ? 0 : (parseDuration(after) ?? 0))

/**
 * The first event that ends a wait of one of these runs or acts on the first of them; undefined if there is none.
 * @param startedAt of the first run
 */
export function nextOutside(
  runs: readonly Run[],
  events: readonly OutsideEvent[],
  used: ReadonlySet<OutsideEvent>,
  startedAt: Instant,
): DueEvent | undefined {
  const left = events.filter((each) => !used.has(each))
  const acts = runs
    .slice(0, 1)
    .flatMap(({ id: runId }) => left.filter(isAct).map((event) => ({ event, runId, at: startedAt + delayOf(event) })))
  const ends = runs.flatMap(({ id: runId, state }) =>
    (state.at === 'calling' ? state.calls : []).flatMap((call): DueEvent[] => {
      if (call.state.at !== 'waiting') return []
      const { wait, since } = call.state
      const event = left.find((each) =>
        wait.kind === 'signal' ? each.signal === wait.name : wait.kind === 'external' && each.complete === call.ref,
      )
      return event ? [{ event, runId, callId: call.id, at: since + delayOf(event) }] : []
    }),
  )
  return [...acts, ...ends].toSorted((one, other) => one.at - other.at)[0]
}

/** Remembers the tokens that tools are given, by run and call. */
export function withTokens(real: Toolbox, tokens: Map<string, string>): Toolbox {
  return {
    ...real,
    route(agent, tool) {
      const route = real.route(agent, tool)
      return (
        route && {
          ...route,
          invoke(invocation, signal) {
            const { completionToken, callId, run } = invocation
            if (completionToken !== undefined) tokens.set(`${run.id} ${callId}`, completionToken)
            return route.invoke(invocation, signal)
          },
        }
      )
    },
  }
}

/** Applies an event. */
export function applyOutside(
  engine: Engine,
  tokens: ReadonlyMap<string, string>,
  { event, runId, callId }: DueEvent,
): Promise<MessageAccepted> {
  if (event.signal !== undefined) return engine.signal(runId, event.signal, event.data ?? null)
  const report = event.error === undefined ? { result: event.result ?? null } : { error: event.error }
  return engine.complete(tokens.get(`${runId} ${callId}`) ?? '', report)
}
