/**
 * Bounds on the calls of tools that this server has under way at once. A call takes its slot in the move that sends it; one
 * that finds none stays ready, and its session is told when its turn has come. Runs take turns.
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

/** Programs that tools start, of the whole server. */
const MAX_PROCESSES = 16
/** Bytes of results that have arrived and are not stored yet; beyond it no call leaves. */
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
  /** True where the call may leave now, and keeps its slot; else it waits in line. Asking again changes nothing. */
  take(request: SlotRequest): boolean
  /** A result has arrived, and waits to be stored with its session. */
  arrived(key: string, bytes: number): void
  /** Gives back every slot of a session but those of calls under way, and leaves the line but for calls that are ready. */
  keep(session: SessionId, isNeeded: (key: string) => boolean): void
}

/** @param admit told of a session one of whose calls may leave now */
export function createSlots(bounds: ConcurrencyBounds, admit: (session: SessionId, run: RunId) => void): Slots {
  const taken = new Map<string, SlotRequest>()
  const counts = new Map<string, number>()
  const results = new Map<string, number>()
  let resultBytes = 0
  /** By run, in the order in which runs have their turn. */
  const line = new Map<RunId, SlotRequest[]>()

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
  const hold = (request: SlotRequest): void => {
    taken.set(request.key, request)
    count(request, 1)
  }
  const release = (key: string): void => {
    const request = taken.get(key)
    if (!request) return
    taken.delete(key)
    count(request, -1)
    resultBytes -= results.get(key) ?? 0
    results.delete(key)
  }
  const leaveLine = (run: RunId, stays: (key: string) => boolean): void => {
    const left = line.get(run)?.filter(({ key }) => stays(key)) ?? []
    if (left.length > 0) line.set(run, left)
    else line.delete(run)
  }

  /** Gives what is free to those in line, one call a run and turn. */
  function admitNext(): void {
    for (const [run, waiting] of line) {
      const next = waiting.find(isFree)
      if (!next) continue
      hold(next)
      leaveLine(run, (key) => key !== next.key)
      const left = line.get(run)
      line.delete(run)
      // Its next call comes after those of the other runs: a run that is set again is visited last.
      if (left) line.set(run, left)
      admit(next.session, run)
    }
  }

  return {
    take(request) {
      if (taken.has(request.key)) return true
      const waiting = line.get(request.run) ?? []
      if (waiting.some(({ key }) => key === request.key)) return false
      // What is free is free for nobody in line.
      if (isFree(request)) {
        hold(request)
        return true
      }
      line.set(request.run, [...waiting, request])
      return false
    },
    arrived(key, bytes) {
      if (!taken.has(key)) return
      resultBytes += bytes - (results.get(key) ?? 0)
      results.set(key, bytes)
    },
    keep(session, isNeeded) {
      for (const { key, session: owner } of taken.values()) if (owner === session && !isNeeded(key)) release(key)
      for (const [run, waiting] of line) if (waiting[0]?.session === session) leaveLine(run, isNeeded)
      admitNext()
    },
  }
}

/** Completions of each provider that may be under way at once; who comes first is asked first. */
export function createTurnstile(bounds: ConcurrencyBounds) {
  const busy = new Map<string, number>()
  const line = new Map<string, Set<() => void>>()
  /**
   * Resolves when it is this completion's turn.
   * @returns ends the turn
   */
  return async function enter(provider: string, signal: AbortSignal): Promise<() => void> {
    const most = bounds.providers?.[provider] ?? bounds.provider
    const leave = (): void => {
      const next = line.get(provider)?.values().next().value
      // The place goes to the next in line, else it is free.
      if (next) next()
      else busy.set(provider, busy.get(provider)! - 1)
    }
    if ((busy.get(provider) ?? 0) < most) busy.set(provider, (busy.get(provider) ?? 0) + 1)
    else {
      const waiting = line.get(provider) ?? new Set()
      line.set(provider, waiting)
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(go)
          reject(signal.reason as Error)
        }
        const go = (): void => {
          waiting.delete(go)
          signal.removeEventListener('abort', stop)
          resolve()
        }
        if (signal.aborted) return stop()
        waiting.add(go)
        signal.addEventListener('abort', stop, { once: true })
      })
    }
    return leave
  }
}
