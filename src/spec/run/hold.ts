/** Why a running run makes no progress. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { isHeldBy, mayEndByRestart, type Outage, type OutageReason } from './outage.ts'
import type { Run } from './run.ts'
import type { CallWait } from '../steer/wait.ts'
import { ownMember } from '../../base/json/own-member.ts'

/** The member `hold` of a run's status and of `engine.run.paused`. */
export type RunHold = {
  readonly reason: OutageReason | 'restored' | 'paused' | 'storage_full' | CallWait['kind']
  readonly since: string
  /** Absent while an attempt is made. */
  readonly nextAttemptAt?: string
}

/** When any run tries what this cause keeps out of reach; the others go on with the one that reaches it. */
export type AttemptLookup = (cause: string) => Instant | undefined

/** The hold of a run that came from a backup. */
export const restoredHold = (since: Instant): { hold: RunHold } => ({
  hold: { reason: 'restored', since: toIsoText(since) },
})

/**
 * The hold of a run that an operator paused, or whose model, tool or secret is missing; undefined if it works, waits for a
 * person or has ended.
 */
export function holdOfState(run: Pick<Run, 'state'>, attemptOf?: AttemptLookup): RunHold | undefined {
  const since = pausedSince(run)
  if (since !== undefined) return { reason: 'paused', since: toIsoText(since) }
  return outageHold(run, attemptOf) ?? waitHold(run)
}

/** The hold of a run, else the longest one of a sub-agent that it waits for. */
export function holdWithin(
  run: Pick<Run, 'state'>,
  runs: readonly Run[],
  attemptOf?: AttemptLookup,
): RunHold | undefined {
  const own = holdOfState(run, attemptOf)
  if (own || run.state.at !== 'calling') return own
  const below = run.state.calls.flatMap(({ state }) => {
    const child = state.at === 'delegated' ? runs.find(({ id }) => id === state.child) : undefined
    return (child && holdWithin(child, runs, attemptOf)) ?? []
  })
  return below.toSorted((a, b) => (a.since < b.since ? -1 : 1))[0]
}

/** True for a run that waits for a sub-agent. */
export const waitsForAgent = ({ state }: Pick<Run, 'state'>): boolean =>
  state.at === 'calling' && state.calls.some((call) => call.state.at === 'delegated')

/** The hold of a run of which nothing can be stored. */
export const storageHold = (since: Instant): RunHold => ({ reason: 'storage_full', since: toIsoText(since) })

/** Since when an operator's pause holds an effect of the run; undefined if none does. */
export function pausedSince({ state }: Pick<Run, 'state'>): Instant | undefined {
  if (state.at === 'thinking') return state.paused
  if (state.at !== 'calling') return undefined
  const times = state.calls.flatMap(({ paused, state: { at } }) =>
    paused === undefined || at === 'settled' ? [] : [paused],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The hold of a run that waits for a time, a signal, or a report from outside: the first of its calls that does. */
function waitHold({ state }: Pick<Run, 'state'>): RunHold | undefined {
  const calls = state.at === 'calling' ? state.calls : []
  for (const { state: call } of calls) {
    if (call.at !== 'waiting') continue
    const { kind, until } = call.wait
    const next = kind === 'timer' ? { nextAttemptAt: toIsoText(until) } : {}
    return { reason: kind, since: toIsoText(call.since), ...next }
  }
  return undefined
}

/** The hold of a run whose model, tool or secret is missing. */
export function outageHold({ state }: Pick<Run, 'state'>, attemptOf?: AttemptLookup): RunHold | undefined {
  const held = findHeld(state)
  if (!held) return undefined
  const { outage, until: own } = held
  const until = own === undefined ? undefined : Math.min(own, attemptOf?.(outage.cause) ?? own)
  return {
    reason: outage.reason,
    since: toIsoText(outage.since),
    ...(until !== undefined && { nextAttemptAt: toIsoText(until) }),
  }
}

/** True for a held run that a server which starts may release. */
export const isHeldUntilRestart = ({ state }: Pick<Run, 'state'>): boolean => {
  const held = findHeld(state)
  return held !== undefined && mayEndByRestart(held.outage)
}

/** The outage that holds a run in this state, and its next attempt. */
export const findHeld = (state: Run['state']) => heldAttempts(state).find(({ outage }) => isHeldBy(outage))

function heldAttempts(state: Run['state']): readonly { readonly outage: Outage; readonly until?: Instant }[] {
  if (state.at === 'thinking' && state.outage) return [{ outage: state.outage }]
  if (state.at === 'backing_off' && state.outage) return [{ outage: state.outage, until: state.until }]
  if (state.at !== 'calling') return []
  return state.calls.flatMap(({ outage, state: call }) => {
    if (!outage || call.at === 'settled') return []
    return [{ outage, ...(call.at === 'retrying' && { until: call.until }) }]
  })
}

/** Why a run is held, for people. */
export const HOLD_TEXTS: Readonly<Record<RunHold['reason'], string>> = {
  provider_unreachable: 'the model cannot be reached',
  tool_unreachable: 'a tool cannot be reached',
  mcp_unreachable: 'an MCP server cannot be reached',
  files_unreachable: 'the storage of files cannot be reached or used (svc doctor)',
  secret_missing: 'a secret is missing where the server runs (svc secrets check)',
  quota_spent: "a quota is spent: the account's at the model's vendor, or the plan of the workspace for the day",
  storage_full: 'the disk of the server is full',
  paused: 'it is paused (svc stop --list shows by whom and why)',
  timer: 'it waits for a time',
  signal: 'it waits for a signal, which svc runs conversation names (svc signal)',
  external: 'work outside has yet to report its end (svc complete)',
  restored: 'it came from a backup (svc restore --resume releases it)',
}

/**
 * For people: `since TIME: the model cannot be reached; next attempt at TIME`.
 * @param showTime how a time is written where it is read
 */
export function describeHold(
  {
    reason,
    since,
    nextAttemptAt,
  }: { readonly reason: string; readonly since: string; readonly nextAttemptAt?: string },
  showTime: (iso: string) => string = (iso) => iso,
): string {
  const why = ownMember<string>(HOLD_TEXTS, reason) ?? reason
  // A timer's end is not an attempt, so it is worded differently.
  const what = reason === 'timer' ? 'it continues at' : 'next attempt at'
  const next = nextAttemptAt === undefined ? '' : `; ${what} ${showTime(nextAttemptAt)}`
  return `since ${showTime(since)}: ${why}${next}`
}
