/** What comes from outside while a scenario waits: signals, and the ends of work that a tool only accepted. */
import { parseDuration } from '../../base/duration.ts'
import type { Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { Run } from '../../spec/run.ts'
import type { Engine } from '../../engine/session/engine.ts'
import type { Toolbox } from '../../tools/tool.ts'

/** `signal` names what `svc.wait_event` waits for, `complete` the tool whose call ends. Each comes once. */
export interface OutsideEvent {
  readonly signal?: string
  readonly data?: JsonValue
  readonly complete?: string
  readonly result?: JsonValue
  readonly error?: string
  /** From the beginning of the wait; at once when absent. */
  readonly after?: string
}

/** An event that something waits for. */
export interface DueEvent {
  readonly event: OutsideEvent
  readonly runId: RunId
  readonly callId: string
  readonly at: Instant
}

/** The first event that ends a wait of one of these runs; undefined where none does. */
export function nextOutside(
  runs: readonly Run[],
  events: readonly OutsideEvent[],
  used: ReadonlySet<OutsideEvent>,
): DueEvent | undefined {
  const due = runs.flatMap(({ id: runId, state }) =>
    (state.at === 'calling' ? state.calls : []).flatMap((call): DueEvent[] => {
      if (call.state.at !== 'waiting') return []
      const { wait, since } = call.state
      const event = events.find(
        (each) =>
          !used.has(each) &&
          (wait.kind === 'signal' ? each.signal === wait.name : wait.kind === 'external' && each.complete === call.ref),
      )
      const ms = event?.after === undefined ? 0 : (parseDuration(event.after) ?? 0)
      return event ? [{ event, runId, callId: call.id, at: since + ms }] : []
    }),
  )
  return due.toSorted((one, other) => one.at - other.at)[0]
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

/** Lets an event happen. */
export function applyOutside(
  engine: Engine,
  tokens: ReadonlyMap<string, string>,
  { event, runId, callId }: DueEvent,
): Promise<MessageAccepted> {
  if (event.signal !== undefined) return engine.signal(runId, event.signal, event.data ?? null)
  const report = event.error === undefined ? { result: event.result ?? null } : { error: event.error }
  return engine.complete(tokens.get(`${runId} ${callId}`) ?? '', report)
}
