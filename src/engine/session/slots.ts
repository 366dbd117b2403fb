/**
 * Bounds the tool calls and completions in flight on this server. A call takes its slot in the transition that sends it;
 * without a free slot it stays ready, and its run gets `admitted` later. Waiting runs are served round-robin.
 * Source: decisions, section 15; reliability, "Bounds on what runs at once".
 */
import type { RunId, SessionId } from '../../base/ids.ts'

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

export interface SlotRequest {
  readonly session: SessionId
  readonly run: RunId
  /** The dispatch, by its `dispatchKey`. */
  readonly key: string
  readonly tool: string
  readonly route: string
  /** The tool's own bound. */
  readonly bound?: number | undefined
}

export interface Slots {
  /** True if the call may be sent now, and takes its slot; else it waits in line. Idempotent for one key. */
  take(request: SlotRequest): boolean
  /** Frees the slot of a call that is over, and counts its result until it is stored. */
  arrived(key: string, bytes: number): void
  /** Frees the slots and places in line of a session whose keys are not needed any more. */
  keep(session: SessionId, isNeeded: (key: string) => boolean): void
  /** Keeps the slot of a call that goes on although its session does not need it any more, until `ended`. */
  outlast(key: string): void
  /** Frees the slot of such a call. */
  ended(key: string): void
}

/** @param admit called when a call that waited in line has got its slot */
export function createSlots(bounds: ConcurrencyBounds, admit: (session: SessionId, run: RunId) => void): Slots {
  const taken = new Map<string, SlotRequest>()
  /** The keys in `taken`, by session. */
  const keysOf = new Map<SessionId, Set<string>>()
  const counts = new Map<string, number>()
  /** Bytes of the results that arrived: their calls are over, and their slots are free. */
  const results = new Map<string, number>()
  let resultBytes = 0
  /** Calls that go on although their sessions do not need them any more. */
  const outlasting = new Set<string>()
  /** Waiting requests by run, in the order in which runs are served. */
  const line = new Map<RunId, SlotRequest[]>()
  /** True if a waiting call may get a slot; avoids checking all of them at each save. */
  let mayAdmit = false

  const demands = ({ tool, route, bound }: SlotRequest): [name: string, most: number][] => [
    ['server', bounds.server],
    [`tool ${tool}`, bound ?? bounds.tool],
    ...(route === 'command' ? ([['processes', MAX_PROCESSES]] as [string, number][]) : []),
  ]
  const isFree = (request: SlotRequest): boolean =>
    resultBytes < MAX_RESULT_BYTES && demands(request).every(([name, most]) => (counts.get(name) ?? 0) < most)
  const count = (request: SlotRequest, by: 1 | -1): void => {
    for (const [name] of demands(request)) counts.set(name, (counts.get(name) ?? 0) + by)
  }
  const takeSlot = (request: SlotRequest): void => {
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
    const bytes = results.get(key)
    if (bytes === undefined) return count(request, -1)
    resultBytes -= bytes
    results.delete(key)
  }
  const leaveLine = (run: RunId, stays: (key: string) => boolean): void => {
    const left = line.get(run)?.filter(({ key }) => stays(key)) ?? []
    if (left.length > 0) line.set(run, left)
    else line.delete(run)
  }

  /** Gives free slots to those in line, one call per run at a time. */
  function admitNext(): void {
    if (!mayAdmit) return
    mayAdmit = false
    for (const [run, waiting] of line) {
      const next = waiting.find(isFree)
      if (!next) continue
      mayAdmit = true
      takeSlot(next)
      leaveLine(run, (key) => key !== next.key)
      const left = line.get(run)
      line.delete(run)
      // Deleted and set again, the run comes last: its next call waits behind those of other runs.
      if (left) line.set(run, left)
      admit(next.session, run)
    }
  }

  return {
    take(request) {
      if (taken.has(request.key)) return true
      const waiting = line.get(request.run) ?? []
      if (waiting.some(({ key }) => key === request.key)) return false
      // No waiting call can use a free slot, or it would have taken it.
      if (isFree(request)) {
        takeSlot(request)
        return true
      }
      line.set(request.run, [...waiting, request])
      return false
    },
    arrived(key, bytes) {
      const request = taken.get(key)
      if (!request || results.has(key)) return
      resultBytes += bytes
      results.set(key, bytes)
      count(request, -1)
      mayAdmit = true
      admitNext()
    },
    keep(session, isNeeded) {
      for (const key of keysOf.get(session) ?? []) if (!isNeeded(key) && !outlasting.has(key)) release(key)
      for (const [run, waiting] of line) if (waiting[0]?.session === session) leaveLine(run, isNeeded)
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

/** Bounds the completions in flight per provider, first come first served. */
export function createCompletionSlots(bounds: ConcurrencyBounds) {
  const busy = new Map<string, number>()
  const line = new Map<string, Set<() => void>>()
  /**
   * Resolves when the completion may be sent.
   * @returns frees its slot
   */
  return async function enter(provider: string, signal: AbortSignal): Promise<() => void> {
    const most = bounds.providers?.[provider] ?? bounds.provider
    const leave = (): void => {
      const next = line.get(provider)?.values().next().value
      // The slot is handed to the next in line without being counted down and up.
      if (next) next()
      else busy.set(provider, busy.get(provider)! - 1)
    }
    if ((busy.get(provider) ?? 0) < most) busy.set(provider, (busy.get(provider) ?? 0) + 1)
    else {
      const waiting = line.get(provider) ?? new Set()
      line.set(provider, waiting)
      await new Promise<void>((resolve, reject) => {
        const abort = (): void => {
          waiting.delete(proceed)
          reject(signal.reason as Error)
        }
        const proceed = (): void => {
          waiting.delete(proceed)
          signal.removeEventListener('abort', abort)
          resolve()
        }
        if (signal.aborted) return abort()
        waiting.add(proceed)
        signal.addEventListener('abort', abort, { once: true })
      })
    }
    return leave
  }
}
