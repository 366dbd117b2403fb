/**
 * Bounds the tool calls and completions in flight on this server. A call takes its slot in the transition that sends it;
 * without a free slot it stays ready, and its run gets `admitted` later. A read of a tool that answers at once waits for those few
 * milliseconds at the door instead: recorded as sent, so that its turn needs no save of its own. Waiting calls are served in turn of
 * those they are made for, and no trigger takes all of a bound (`fair-line.ts`).
 * Source: docs/design/models-and-tools.md#concurrency
 */
import type { RunId, SessionId } from '../../base/ids.ts'
import { dropOldest } from '../../base/values/collections.ts'
import { createFairLine, shareOfTrigger, type SlotOwner } from './fair-line.ts'

export interface ConcurrencyBounds {
  /** Calls of one completion. */
  readonly completion: number
  /** Calls of one tool that sets no bound of its own. */
  readonly tool: number
  /** Completions of one provider that sets no bound of its own. */
  readonly provider: number
  /** Calls of tools of the whole server. */
  readonly server: number
  /** Bounds of providers by name. */
  readonly providers?: Readonly<Record<string, number>>
}

export const DEFAULT_CONCURRENCY: ConcurrencyBounds = { completion: 8, tool: 16, provider: 64, server: 64 }

/** Processes started by tools, on the whole server. */
const MAX_PROCESSES = 16
/** Bytes of results that arrived and are not stored yet; above it no call is sent. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024
/** As many reads wait at the door of a tool as it answers in this time, going by its last answer. */
const DOOR_MS = 100
/** Tools whose last answer is known. */
const MAX_TIMED_TOOLS = 1000

export interface SlotRequest extends SlotOwner {
  readonly session: SessionId
  /** The dispatch, by its `dispatchKey`. */
  readonly key: string
  readonly tool: string
  readonly route: string
  /** The tool's own bound. */
  readonly bound?: number | undefined
  /** True for a call that does nothing but read: it may wait at the door. */
  readonly isRead?: boolean
}

export interface Slots {
  /** True if the call may be recorded as sent: it takes its slot, or waits at the door. Else it waits in line. Idempotent for one key. */
  take(request: SlotRequest): boolean
  /**
   * Called before a call that is recorded as sent leaves. Undefined where it has its slot; else resolves when it is its turn, with false
   * where its session does not need it any more.
   */
  enter(key: string): Promise<boolean> | undefined
  /** Frees the slot of a call that is over, and counts its result until it is stored. */
  arrived(key: string, bytes: number): void
  /** Frees the slots and places in line of a session whose keys are not needed any more. */
  keep(session: SessionId, isNeeded: (key: string) => boolean): void
  /** Keeps the slot of a call that goes on although its session does not need it any more, until `ended`. */
  outlast(key: string): void
  /** Frees the slot of such a call. */
  ended(key: string): void
}

/** A bound that a call counts against. */
type Demand = readonly [name: string, most: number]

interface BoundRequest extends SlotRequest {
  readonly demands: readonly Demand[]
}

/** A call at the door of a tool, and what lets it leave once its effect has begun. */
interface Door {
  readonly tool: string
  end?: (isItsTurn: boolean) => void
}

const doorOf = (tool: string): string => `door of ${tool}`

/**
 * @param admit called when a call that waited in line has got its slot
 * @param now monotonic milliseconds
 */
export function createSlots(
  bounds: ConcurrencyBounds,
  admit: (session: SessionId, run: RunId) => void,
  now: () => number,
): Slots {
  const taken = new Map<string, BoundRequest>()
  /** When calls left. */
  const leftAt = new Map<string, number>()
  /** Milliseconds that the last answer of a tool took. */
  const tookMs = new Map<string, number>()
  /** Calls in line that are recorded as sent, and what lets them leave. */
  const atDoor = new Map<string, Door>()
  /** The keys in `taken`, by session. */
  const keysOf = new Map<SessionId, Set<string>>()
  const counts = new Map<string, number>()
  /** Bytes of the results that arrived: their calls are over, and their slots are free. */
  const results = new Map<string, number>()
  let resultBytes = 0
  /** Calls that go on although their sessions do not need them any more. */
  const outlasting = new Set<string>()
  const line = createFairLine<BoundRequest>()
  /** Waiting requests by their keys, of each session. */
  const waitingOf = new Map<SessionId, Map<string, BoundRequest>>()
  /** True if a waiting call may get a slot; avoids checking all of them at each save. */
  let mayAdmit = false

  const demandsOf = ({ tool, route, bound, trigger }: SlotRequest): readonly Demand[] => {
    const whole: Demand[] = [
      [`tool ${tool}`, bound ?? bounds.tool],
      ['server', bounds.server],
      ...(route === 'command' ? ([['processes', MAX_PROCESSES]] as Demand[]) : []),
    ]
    const parts = whole.map(([name, most]): Demand => [`${name} by ${trigger}`, shareOfTrigger(most)])
    // The smallest first: all who wait are looked at whenever a slot is free.
    return [...parts, ...whole]
  }
  const isFree = ({ demands }: BoundRequest): boolean =>
    resultBytes < MAX_RESULT_BYTES && demands.every(([name, most]) => (counts.get(name) ?? 0) < most)
  const add = (name: string, by: 1 | -1): void => {
    const sum = (counts.get(name) ?? 0) + by
    if (sum === 0) counts.delete(name)
    else counts.set(name, sum)
  }
  const count = ({ demands }: BoundRequest, by: 1 | -1): void => {
    for (const [name] of demands) add(name, by)
  }
  const takeSlot = (request: BoundRequest): void => {
    const { key, session } = request
    taken.set(key, request)
    const keys = keysOf.get(session)
    if (keys) keys.add(key)
    else keysOf.set(session, new Set([key]))
    count(request, 1)
  }
  const release = (key: string): void => {
    const request = taken.get(key)
    if (!request) return
    const keys = keysOf.get(request.session)!
    keys.delete(key)
    if (keys.size === 0) keysOf.delete(request.session)
    taken.delete(key)
    mayAdmit = true
    // It left, and nothing came back: how fast its tool answers is not known any more.
    if (leftAt.delete(key)) tookMs.delete(request.tool)
    const bytes = results.get(key)
    if (bytes === undefined) return count(request, -1)
    resultBytes -= bytes
    results.delete(key)
  }
  const joinLine = (request: BoundRequest): void => {
    const own = waitingOf.get(request.session) ?? new Map<string, BoundRequest>()
    waitingOf.set(request.session, own.set(request.key, request))
    line.join(request, request)
  }
  const hasRoomAtDoor = ({ tool, bound, isRead }: SlotRequest): boolean => {
    const ms = tookMs.get(tool)
    if (isRead !== true || ms === undefined) return false
    return (counts.get(doorOf(tool)) ?? 0) + 1 <= ((bound ?? bounds.tool) * DOOR_MS) / Math.max(1, ms)
  }
  const leaveDoor = (key: string): Door | undefined => {
    const door = atDoor.get(key)
    if (door && atDoor.delete(key)) add(doorOf(door.tool), -1)
    return door
  }
  const forgetWaiting = ({ session, key }: SlotRequest): void => {
    const own = waitingOf.get(session)
    own?.delete(key)
    if (own?.size === 0) waitingOf.delete(session)
  }

  /** Gives free slots to those in line, one call at a time. */
  function admitNext(): void {
    if (!mayAdmit) return
    mayAdmit = false
    for (let next = line.takeNext(isFree); next; next = line.takeNext(isFree)) {
      forgetWaiting(next)
      takeSlot(next)
      const door = leaveDoor(next.key)
      if (door) door.end?.(true)
      else admit(next.session, next.run)
    }
  }

  return {
    take(asked) {
      const { key, tool, session } = asked
      if (taken.has(key) || atDoor.has(key)) return true
      if (waitingOf.get(session)?.has(key)) return false
      const request = { ...asked, demands: demandsOf(asked) }
      // No waiting call can use a free slot, or it would have taken it.
      if (isFree(request)) {
        takeSlot(request)
        return true
      }
      joinLine(request)
      if (!hasRoomAtDoor(request)) return false
      atDoor.set(key, { tool })
      add(doorOf(tool), 1)
      return true
    },
    enter(key) {
      const door = atDoor.get(key)
      if (door)
        return new Promise((resolve) => {
          door.end = (isItsTurn) => {
            if (isItsTurn) leftAt.set(key, now())
            resolve(isItsTurn)
          }
        })
      if (taken.has(key)) leftAt.set(key, now())
      return undefined
    },
    arrived(key, bytes) {
      const request = taken.get(key)
      if (!request || results.has(key)) return
      const left = leftAt.get(key)
      if (left !== undefined) {
        tookMs.delete(request.tool)
        tookMs.set(request.tool, now() - left)
        dropOldest(tookMs, MAX_TIMED_TOOLS)
        leftAt.delete(key)
      }
      resultBytes += bytes
      results.set(key, bytes)
      count(request, -1)
      mayAdmit = true
      admitNext()
    },
    keep(session, isNeeded) {
      for (const key of keysOf.get(session) ?? []) if (!isNeeded(key) && !outlasting.has(key)) release(key)
      for (const request of waitingOf.get(session)?.values() ?? []) {
        if (isNeeded(request.key)) continue
        line.leave(request, request)
        forgetWaiting(request)
        leaveDoor(request.key)?.end?.(false)
      }
      admitNext()
    },
    outlast: (key) => void outlasting.add(key),
    ended(key) {
      if (!outlasting.delete(key)) return
      release(key)
      admitNext()
    },
  }
}

/** Bounds the completions in flight per provider, in turn like the calls. */
export function createCompletionSlots(bounds: ConcurrencyBounds) {
  const providers = new Map<string, CompletionLine>()
  /**
   * Resolves when the completion may be sent.
   * @returns frees its slot
   */
  return async function enter(provider: string, owner: SlotOwner, signal: AbortSignal): Promise<() => void> {
    const most = bounds.providers?.[provider] ?? bounds.provider
    const here = providers.get(provider) ?? createCompletionLine(most)
    providers.set(provider, here)
    return here.enter(owner, signal)
  }
}

interface CompletionLine {
  enter(owner: SlotOwner, signal: AbortSignal): Promise<() => void>
}

function createCompletionLine(most: number): CompletionLine {
  const line = createFairLine<{ readonly owner: SlotOwner; readonly proceed: () => void }>()
  let busy = 0
  const busyOf = new Map<string, number>()
  const isFree = ({ trigger }: SlotOwner): boolean => busy < most && (busyOf.get(trigger) ?? 0) < shareOfTrigger(most)
  const count = ({ trigger }: SlotOwner, by: 1 | -1): void => {
    const now = (busyOf.get(trigger) ?? 0) + by
    busy += by
    if (now === 0) busyOf.delete(trigger)
    else busyOf.set(trigger, now)
  }
  /** Counted before the one that waits goes on, so that nobody takes its slot meanwhile. */
  function admitNext(): void {
    for (let next = take(); next; next = take()) next.proceed()
  }
  function take() {
    const next = line.takeNext(({ owner }) => isFree(owner))
    if (next) count(next.owner, 1)
    return next
  }

  return {
    async enter(owner, signal) {
      // No waiting completion can use a free slot, or it would have taken it.
      if (isFree(owner)) count(owner, 1)
      else
        await new Promise<void>((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason as Error)
          const abort = (): void => {
            line.leave(owner, waiting)
            reject(signal.reason as Error)
          }
          const waiting = {
            owner,
            proceed() {
              signal.removeEventListener('abort', abort)
              resolve()
            },
          }
          line.join(owner, waiting)
          signal.addEventListener('abort', abort, { once: true })
        })
      return () => {
        count(owner, -1)
        admitNext()
      }
    },
  }
}
