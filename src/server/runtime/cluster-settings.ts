/** Environment settings of a process that shares its store with others. Source: docs/design/several-processes.md#life-of-a-process */
import { parseDuration } from '../../base/duration.ts'
import { fail } from '../../base/failure.ts'
import { DEFAULT_LEASE_TIMES, type LeaseTimes } from '../../store/lease.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How often a process looks for sessions that another one left behind, however often hints get lost. */
const CLAIM_EVERY_MS = 1000

/**
 * From `SVC_LEASE_TTL`, such as `5s`: shorter, a pause of the machine would cost sessions; longer, those of a killed process would
 * wait.
 * @throws Failure `config_invalid`
 */
export function sharedLeaseTimes(env: Environment): LeaseTimes {
  const ttlMs = readDuration(env, 'SVC_LEASE_TTL', { from: '5s', to: '300s', example: '15s' })
  if (ttlMs === undefined) return { ...DEFAULT_LEASE_TIMES, claimEveryMs: CLAIM_EVERY_MS }
  return { ttlMs, marginMs: ttlMs / 5, claimEveryMs: CLAIM_EVERY_MS }
}

/** Work that a process takes over from others; each session with work takes memory, and a process needs some for its own. */
const DEFAULT_MAX_SESSIONS = 5000
const MOST_SESSIONS = 1_000_000

/**
 * From `SVC_MAX_SESSIONS`.
 * @returns how many sessions with work a process may hold before it leaves what is free to others
 * @throws Failure `config_invalid`
 */
export function maxClaimedSessions({ SVC_MAX_SESSIONS: text }: Environment): number {
  if (text === undefined || text === '') return DEFAULT_MAX_SESSIONS
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > MOST_SESSIONS)
    throw fail('config_invalid', {
      what: `SVC_MAX_SESSIONS is ${text}. It must be a number from 1 to ${MOST_SESSIONS}, such as ${DEFAULT_MAX_SESSIONS}.`,
    })
  return count
}

/** Time for calls in flight to end, and for requests that a balancer has already sent. */
const SHARED_DRAIN_MS = 25_000
/** Source: docs/design/several-processes.md#life-of-a-process */
export const OWN_DRAIN_MS = 5000

/**
 * From `SVC_DRAIN`.
 * @returns how long a server that is told to end waits for its calls in flight
 * @throws Failure `config_invalid`
 */
export const drainTime = (env: Environment, isShared: boolean): number =>
  readDuration(env, 'SVC_DRAIN', { from: '0s', to: '600s', example: '25s' }) ??
  (isShared ? SHARED_DRAIN_MS : OWN_DRAIN_MS)

interface DurationBounds {
  readonly from: string
  readonly to: string
  readonly example: string
}

function readDuration(env: Environment, name: string, { from, to, example }: DurationBounds): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const ms = parseDuration(text)
  if (ms === undefined || ms < parseDuration(from)! || ms > parseDuration(to)!)
    throw fail('config_invalid', {
      what: `${name} is ${text}. It must be a duration from ${from} to ${to}, such as ${example}.`,
    })
  return ms
}
