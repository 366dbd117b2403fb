/** Starts and saves of sessions. Those that gather while a statement is under way share the next one. */
import { randomUUID } from 'node:crypto'
import { fail, type Failure } from '../../base/failure.ts'
import type { Session } from '../../spec/session.ts'
import type { LeaseHolder, SessionLease } from '../lease.ts'
import type { SessionUpdate } from '../session-update.ts'
import type { IdempotencyClaim, StartLimits, StartOutcome } from '../start-outcome.ts'
import { toObject } from '../rows/json-column.ts'
import type { Store } from '../store.ts'
import { createBatchQueue } from './database/batch.ts'
import { hasState, isContentError, storeUnreachable, toStoreFailure } from './database/errors.ts'
import type { SessionHints } from './database/hints.ts'
import type { DatabaseMoment } from './database/moment.ts'
import { toJsonRows } from './database/named-values.ts'
import type { PostgresPool } from './database/pool.ts'
import { toCostColumns } from './costs.ts'
import { toEffectColumns } from './effects.ts'
import { toClaimColumns } from './idempotency.ts'
import { findStored, runWithReply } from './lost-reply.ts'
import { toPlanColumns } from './plan.ts'
import { toChangedColumns, toStartColumns } from './sessions/session-columns.ts'
import { toLabelColumns } from './sessions/session-labels.ts'
import { toRowLists } from './update-rows.ts'

interface PostgresUpdates extends Pick<Store, 'start' | 'save'> {
  /** Resolves when everything accepted until now is stored or refused. */
  readonly drained: () => Promise<void>
}

/** A save, and the name by which it is found after a lost reply. */
interface SaveRequest {
  readonly update: SessionUpdate
  readonly holder: LeaseHolder | undefined
  readonly turn: string
}

interface StartRequest extends SaveRequest {
  readonly limits: StartLimits
  readonly claim: IdempotencyClaim | undefined
}

type SaveAnswer = SessionLease | Failure | Error | undefined
type StartAnswer = StartOutcome | Failure | Error

export interface UpdateParts {
  readonly pool: PostgresPool
  readonly moment: DatabaseMoment
  readonly hints: SessionHints
  /** Of the kept counts that this process adds to. */
  readonly shard: number
}

export function openPostgresUpdates({ pool, moment, hints, shard }: UpdateParts): PostgresUpdates {
  const saves = createBatchQueue<SaveRequest, SaveAnswer>({
    key: ({ update }) => update.session.id,
    async make(requests) {
      const locks = [...new Set(requests.flatMap(({ update }) => planLock(update)))]
      const asks = requests.map(toSaveColumns)
      const values = [moment.now(), shard, locks, toJsonRows(asks), ...toRowLists(requests.map(({ update }) => update))]
      const rows = await runWithReply<SaveRow>(pool, SAVE, values, async () =>
        (await findStored(pool, requests)).map(({ index, lease_epoch }) => ({
          i: index,
          outcome: 'saved',
          lease_epoch,
          detail: null,
        })),
      )
      const found = new Map(rows.map((row) => [row.i, row]))
      const answers = requests.map((request, index) => toSaveAnswer(request, found.get(index), pool.database))
      for (const [at, { update }] of requests.entries())
        if (!(answers[at] instanceof Error)) hints.changed([update.session.id], found.get(at)?.detail === 'free')
      return answers
    },
  })
  const starts = createBatchQueue<StartRequest, StartAnswer>({
    key: ({ update }) => update.session.id,
    async make(requests) {
      const locks = [...new Set(requests.flatMap(locksOf))]
      const asks = requests.map(toStartColumnsOf)
      const values = [moment.now(), shard, locks, toJsonRows(asks), ...toRowLists(requests.map(({ update }) => update))]
      const rows = await runWithReply<StartRow>(pool, START, values, async () =>
        (await findStored(pool, requests)).map(({ index }) => ({
          i: index,
          outcome: 'started',
          about: null,
          amount: null,
        })),
      )
      const found = new Map(rows.map((row) => [row.i, row]))
      const answers = requests.map((request, index) => toStartAnswer(request, found.get(index), pool.database))
      for (const [at, { update, holder }] of requests.entries())
        if (isStarted(answers[at]!)) hints.changed([update.session.id], update.busy && holder === undefined)
      return answers
    },
  })

  return {
    async start(update, limits, claim, holder) {
      const answer = await starts
        .add({ update, limits, claim, holder, turn: randomUUID() })
        .catch((error: unknown) => Promise.reject(toUpdateFailure(error, pool.database)))
      if (answer instanceof Error) throw answer
      return answer
    },
    async save(update, holder) {
      const answer = await saves
        .add({ update, holder, turn: randomUUID() })
        .catch((error: unknown) => Promise.reject(toSaveFailure(error, pool.database)))
      if (answer instanceof Error) throw answer
      return answer
    },
    async drained() {
      await Promise.all([starts.drained(), saves.drained()])
    },
  }
}

/** Moment, shard, locks, requests, and ten lists of rows. */
const VALUES = Array.from({ length: 14 }, (_, index) => `$${index + 1}`).join(', ')
const SAVE = `select * from save_sessions(${VALUES})`
const START = `select * from start_sessions(${VALUES})`

interface SaveRow {
  readonly i: number
  readonly outcome: string
  readonly lease_epoch: number | null
  readonly detail: string | null
}

interface StartRow {
  readonly i: number
  readonly outcome: string
  readonly about: string | null
  readonly amount: number | null
}

const holderColumns = (holder: LeaseHolder | undefined) => ({
  worker: holder?.worker ?? null,
  ttl_ms: holder?.ttlMs ?? null,
  held_epoch: holder?.epoch ?? null,
})

const toSaveColumns = ({ update, holder, turn }: SaveRequest, i: number) => ({
  i,
  id: update.session.id,
  session: toChangedColumns(update.session, update.busy, turn),
  ...holderColumns(holder),
  after_seq: numberBefore(update),
  history_seen: update.historySeen ?? null,
  effects: update.effects && update.effects.length > 0 ? update.effects.map(toEffectColumns) : null,
  claims: update.claims && update.claims.length > 0 ? update.claims.map(toClaimColumns) : null,
  spends: update.spends.length > 0 ? toSpendColumns(update) : null,
  plan: update.plan ? toPlanColumns(update.plan) : null,
})

const toSpendColumns = ({ session, runs, spends }: SessionUpdate) =>
  spends.map((spend) => toCostColumns(session.workspaceId, runs.find(({ id }) => id === spend.runId)!.agentId, spend))

const toStartColumnsOf = ({ update, holder, turn, limits, claim }: StartRequest, i: number) => ({
  i,
  id: update.session.id,
  session: toStartColumns(update.session, update.busy, turn),
  ...holderColumns(holder),
  after_seq: numberBefore(update),
  claim: claim ? toClaimColumns(claim) : null,
  tags: update.session.tags ?? null,
  labels: update.labels ? toLabelColumns(update.labels) : null,
  trigger_id: triggerOf(update),
  per_minute: limits.ratePerMinute,
  per_day: limits.ratePerDay,
  max_open: limits.maxConcurrentRuns,
  plan_runs: limits.planRunsPerDay,
  plan_tokens: limits.planTokensPerDay,
  plan_cost: limits.planCostPerDay?.amount ?? null,
  plan_currency: limits.planCostPerDay?.currency ?? null,
  plan: update.plan ? toPlanColumns(update.plan) : null,
})

const triggerOf = ({ session, runs }: SessionUpdate): string | null => (runs.at(-1)?.starter ?? session).triggerId

/** What a start counts or claims, each under one name: whoever counts the same waits for it. */
function locksOf({ update, limits, claim }: StartRequest): readonly string[] {
  const trigger = triggerOf(update)
  const { ratePerMinute, ratePerDay, maxConcurrentRuns, planRunsPerDay, planTokensPerDay, planCostPerDay } = limits
  const isLimited = [ratePerMinute, ratePerDay, maxConcurrentRuns].some((each) => each !== null)
  const isPlanned = [planRunsPerDay, planTokensPerDay, planCostPerDay].some((each) => each !== null)
  return [
    ...(claim ? [JSON.stringify(['claim', claim.principal, claim.route, claim.key]).replaceAll('\0', '\ufffd')] : []),
    ...(trigger !== null && isLimited ? [`trigger ${trigger}`] : []),
    ...(isPlanned ? [planLockOf(update)] : planLock(update)),
  ]
}

const planLockOf = ({ session }: SessionUpdate): string => `plan ${session.workspaceId}`

/** Completions that begin are counted one after the other in all processes. */
const planLock = (update: SessionUpdate): readonly string[] => (update.plan ? [planLockOf(update)] : [])

/** The number that the stored events must end with, so that those of the update follow without a gap; -1 where they have one. */
function numberBefore({ session, events }: SessionUpdate): number {
  const before = session.lastSeq - events.length
  return events.every((event, index) => event.seq === before + index + 1) ? before : -1
}

function toSaveAnswer({ update: { session } }: SaveRequest, row: SaveRow | undefined, database: string): SaveAnswer {
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

function toStartAnswer(
  { update: { session }, limits }: StartRequest,
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

/** What refuses starts and saves alike. Without an outcome the reply was lost, and nothing is stored. */
function toRefusal(session: Session, outcome: string | undefined, detail: string, database: string): Error {
  if (outcome === 'not_found') return fail('not_found', { what: 'session' })
  if (outcome === 'run_moved_on') return fail('run_moved_on', { sessionId: session.id, seen: session.version })
  if (outcome === 'plan_reserved') return fail('plan_reserved', { limit: detail })
  if (outcome === 'plan_spent') {
    const [limit = '', seconds] = detail.split(' ')
    return fail('plan_spent', { limit }, { retryAfterSeconds: Number(seconds) })
  }
  if (outcome === 'gap')
    return new Error(`Events of session ${session.id} do not follow number ${detail} without a gap.`)
  return storeUnreachable(database, new Error('the connection was lost before anything was stored'))
}

const isStarted = (answer: StartAnswer): boolean => !(answer instanceof Error) && answer.outcome === 'started'

/** Rows that name what is not there are a bug of ours, and no content that could be refused. */
const toUpdateFailure = (error: unknown, database: string): unknown =>
  hasState(error, 'SV003') ? new Error((error as Error).message, { cause: error }) : toStoreFailure(error, database)

const toSaveFailure = (error: unknown, database: string): unknown =>
  isContentError(error)
    ? fail('state_not_saved', { why: (error as Error).message }, { cause: error })
    : toUpdateFailure(error, database)
