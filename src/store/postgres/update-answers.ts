/** Requests of starts and saves to the database, and its answers. */
import { fail, type Failure } from '../../base/failure.ts'
import type { Session } from '../../spec/run/session.ts'
import type { LeaseHolder, SessionLease } from '../lease.ts'
import { toObject } from '../rows/json-column.ts'
import type { SessionUpdate } from '../session-update.ts'
import type { IdempotencyClaim, StartLimits, StartOutcome } from '../start-outcome.ts'
import { storeUnreachable } from './database/errors.ts'

/** A save, and the name by which it is found after a lost reply. */
export interface PendingSave {
  readonly update: SessionUpdate
  readonly holder: LeaseHolder | undefined
  readonly turn: string
}

export interface PendingStart extends PendingSave {
  readonly limits: StartLimits
  readonly claim: IdempotencyClaim | undefined
}

export type SaveAnswer = SessionLease | Failure | Error | undefined
export type StartAnswer = StartOutcome | Failure | Error

export interface SaveRow {
  readonly i: number
  readonly outcome: string
  readonly lease_epoch: number | null
  readonly detail: string | null
}

export interface StartRow {
  readonly i: number
  readonly outcome: string
  readonly about: string | null
  readonly amount: number | null
}

export function toSaveAnswer(
  { update: { session } }: PendingSave,
  row: SaveRow | undefined,
  database: string,
): SaveAnswer {
  switch (row?.outcome) {
    case 'saved':
      return row.lease_epoch === null ? undefined : { sessionId: session.id, epoch: row.lease_epoch }
    case 'lease_lost':
      return fail('lease_lost', { sessionId: session.id })
    case 'history_moved_on':
      return fail('history_moved_on')
    case 'effect_taken':
      return fail('effect_taken', { key: row.detail ?? '' })
    default:
      return toRefusal(session, row?.outcome, row?.detail ?? '0', database)
  }
}

export function toStartAnswer(
  { update: { session, follows }, limits }: PendingStart,
  row: StartRow | undefined,
  database: string,
): StartAnswer {
  const rateLimited = (limit: string): StartOutcome => ({
    outcome: 'rate_limited',
    limit,
    retryAfterSeconds: row?.amount ?? 1,
  })
  switch (row?.outcome) {
    case 'started':
      return { outcome: 'started' }
    case 'replayed':
      return { outcome: 'replayed', response: toObject(row.about!) }
    case 'key_reused':
      return { outcome: 'key_reused' }
    case 'per_minute':
      return rateLimited(`${limits.ratePerMinute} per minute`)
    case 'per_day':
      return rateLimited(`${limits.ratePerDay} per day`)
    case 'run_moved_on':
      return movedOn(follows ? { id: follows.sessionId, version: follows.version } : session)
    case 'max_open':
      return { outcome: 'concurrency_limited', limit: limits.maxConcurrentRuns! }
    case 'plan_runs':
      return { outcome: 'plan_limited', limit: 'runs_per_day', value: limits.planRunsPerDay! }
    case 'plan_tokens':
      return { outcome: 'plan_limited', limit: 'tokens_per_day', value: limits.planTokensPerDay! }
    case 'plan_cost': {
      const { amount, currency } = limits.planCostPerDay!
      return { outcome: 'plan_limited', limit: 'cost_per_day', value: `${amount} ${currency}` }
    }
    default:
      return toRefusal(session, row?.outcome, row?.about ?? '0', database)
  }
}

const movedOn = ({ id, version }: Pick<Session, 'id' | 'version'>): Failure =>
  fail('run_moved_on', { sessionId: id, seen: version })

/** Refusals that starts and saves have in common. Without an outcome the reply was lost, and nothing is stored. */
function toRefusal(session: Session, outcome: string | undefined, detail: string, database: string): Error {
  if (outcome === 'not_found') return fail('not_found', { what: 'session' })
  if (outcome === 'run_moved_on') return movedOn(session)
  if (outcome === 'plan_reserved') return fail('plan_reserved', { limit: detail })
  if (outcome === 'plan_spent') {
    const [limit = '', seconds] = detail.split(' ')
    return fail('plan_spent', { limit }, { retryAfterSeconds: Number(seconds) })
  }
  if (outcome === 'gap')
    return new Error(`Events of session ${session.id} do not follow number ${detail} without a gap.`)
  return storeUnreachable(database, new Error('the connection was lost before anything was stored'))
}
