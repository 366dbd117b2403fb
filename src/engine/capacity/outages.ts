/**
 * Outages of all sessions of this process: one run tries for all that wait for the same cause, and when it gets an answer
 * the others continue, one after another. In memory only: after a restart each held run tries again by its own timer.
 */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { HOLD_TEXTS } from '../../spec/run/hold.ts'
import type { Outage } from '../../spec/run/outage.ts'
import type { AgentSnapshot, BoundTool } from '../../spec/snapshot.ts'

/** An attempt that takes longer than this is no longer waited for. */
const ATTEMPT_MS = 600_000
/** Delay after which waiting runs ask again if the due attempt of another run was not made. */
const LOOK_AGAIN_MS = 300_000
/** Runs remembered per cause. Those beyond it go on by their own timers. */
const MAX_WAITING = 10_000

export interface Outages {
  /** Undefined if the run may try now, and then it is the one that tries; else when it should ask again. */
  laterThan(cause: string, run: RunId, session: SessionId, now: Instant): Instant | undefined
  /** An attempt of a held run failed; the next is due at `until`. */
  failed(outage: Outage, run: RunId, until: Instant): void
  /** When the next attempt of any run of this process is due; undefined where none is known, or one is under way. */
  nextAttempt(cause: string, now: Instant): Instant | undefined
  /** The cause is over: the runs that wait for it continue. */
  over(cause: string): void
}

interface OpenOutage {
  readonly reason: Outage['reason']
  until: Instant
  attempt: { readonly run: RunId; readonly until: Instant } | undefined
  readonly waiting: Map<RunId, SessionId>
  /** Runs that it held, for operators. */
  readonly held: Set<RunId>
}

/** @param resume lets a run try again; resolves when it has begun to */
export function createOutages(
  log: Log,
  resume: (session: SessionId, run: RunId, cause: string) => Promise<void>,
): Outages {
  const open = new Map<string, OpenOutage>()
  return {
    laterThan(cause, run, session, now) {
      const outage = open.get(cause)
      if (!outage) return undefined
      const { attempt } = outage
      const isFree = attempt === undefined || attempt.run === run || attempt.until <= now
      if (isFree && now >= outage.until) {
        outage.attempt = { run, until: now + ATTEMPT_MS }
        return undefined
      }
      if (outage.waiting.size < MAX_WAITING) outage.waiting.set(run, session)
      if (outage.held.size < MAX_WAITING) outage.held.add(run)
      return Math.max(now, outage.until) + LOOK_AGAIN_MS
    },
    failed({ reason, cause }, run, until) {
      const outage = open.get(cause)
      if (!outage) {
        open.set(cause, { reason, until, attempt: undefined, waiting: new Map(), held: new Set([run]) })
        log.write('warn', `Runs are held: ${HOLD_TEXTS[reason]}.`, { cause, reason })
        return
      }
      outage.until = Math.max(outage.until, until)
      if (outage.held.size < MAX_WAITING) outage.held.add(run)
      if (outage.attempt?.run === run) outage.attempt = undefined
    },
    nextAttempt(cause, now) {
      const until = open.get(cause)?.until
      return until !== undefined && until > now ? until : undefined
    },
    over(cause) {
      const outage = open.get(cause)
      if (!outage) return
      open.delete(cause)
      log.write('info', 'Held runs go on.', { cause, reason: outage.reason, runs: outage.held.size })
      void (async () => {
        for (const [run, session] of outage.waiting) await resume(session, run, cause)
      })()
    },
  }
}

/** One server of an agent, or one tool. */
export const toolCause = ({ id: agent }: AgentSnapshot, { id, mcp }: BoundTool): string =>
  mcp ? `MCP server ${agent}/${mcp.server}` : `tool ${id}`
export const modelCause = (provider: string): string => `provider ${provider}`
