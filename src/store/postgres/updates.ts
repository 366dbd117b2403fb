/** Starts and saves of sessions. Those that gather while a statement is under way share the next one. */
import { randomUUID } from 'node:crypto'
import { fail } from '../../base/failure.ts'
import type { LeaseHolder } from '../lease.ts'
import type { SessionUpdate } from '../session-update.ts'
import type { Store } from '../store.ts'
import { toCostColumns } from './spending/costs.ts'
import { writeActs } from './acts.ts'
import { createBatchQueue } from './database/batch.ts'
import { hasState, isContentError } from './database/errors.ts'
import type { SessionHints } from './database/hints.ts'
import type { DatabaseMoment } from './database/moment.ts'
import { NOTICES, toNoticeColumns } from '../nouns/notices.ts'
import { markTraced } from '../nouns/trace-marks.ts'
import { toJsonRows } from './database/named-values.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'
import { runWork } from './database/run-work.ts'
import { toEffectColumns } from './effects.ts'
import { toClaimColumns } from './idempotency.ts'
import { CHAIN_START } from '../../spec/chain/hash-chain.ts'
import type { NewLink } from '../rows/link-rows.ts'
import { findStored, runWithReply } from './lost-reply.ts'
import { toPlanColumns } from './spending/plan.ts'
import { toChangedColumns, toStartColumns } from './sessions/session-columns.ts'
import { toLabelColumns } from './sessions/session-labels.ts'
import {
  toSaveAnswer,
  toStartAnswer,
  type SaveAnswer,
  type PendingSave,
  type SaveRow,
  type StartAnswer,
  type PendingStart,
  type StartRow,
} from './update-answers.ts'
import { toUpdateRows } from './update-rows.ts'

interface PostgresUpdates extends Pick<Store, 'start' | 'save'> {
  /** Resolves when everything accepted until now is stored or refused. */
  readonly drained: () => Promise<void>
}

export interface UpdateParts {
  readonly pool: PostgresPool
  readonly moment: DatabaseMoment
  readonly hints: SessionHints
  /** Shard of the kept counts that this process adds to. */
  readonly shard: number
}

export function openPostgresUpdates({ pool, moment, hints, shard }: UpdateParts): PostgresUpdates {
  const saves = createBatchQueue<PendingSave, SaveAnswer>({
    key: ({ update }) => update.session.id,
    async make(requests) {
      const locks = [...new Set(requests.flatMap(({ update }) => planLock(update)))]
      const asks = requests.map(toSaveColumns)
      const { lists, links } = toUpdateRows(requests.map(({ update }) => update))
      const values = [moment.now(), shard, locks, toJsonRows(asks), ...lists, toJsonRows(links.flatMap(toLinkColumns))]
      const rows = await runWithReply<SaveRow>(
        pool,
        ...withNotices(SAVE, requests, values),
        async () =>
          (await findStored(pool, requests)).map(({ index, lease_epoch }) => ({
            i: index,
            outcome: 'saved',
            lease_epoch,
            detail: null,
          })),
        restWriter(requests, 'saved'),
      )
      const found = new Map(rows.map((row) => [row.i, row]))
      const answers = requests.map((request, index) => toSaveAnswer(request, found.get(index), pool.database))
      for (const [at, { update }] of requests.entries())
        if (!(answers[at] instanceof Error)) hints.changed([update.session.id], found.get(at)?.detail === 'free')
      return answers
    },
  })
  const starts = createBatchQueue<PendingStart, StartAnswer>({
    key: ({ update }) => update.session.id,
    async make(requests) {
      const locks = [...new Set(requests.flatMap(locksOf))]
      const asks = requests.map(toStartColumnsOf)
      const { lists, links } = toUpdateRows(requests.map(({ update }) => update))
      const values = [moment.now(), shard, locks, toJsonRows(asks), ...lists, toJsonRows(links.flatMap(toLinkColumns))]
      const rows = await runWithReply<StartRow>(
        pool,
        ...withNotices(START, requests, values),
        async () =>
          (await findStored(pool, requests)).map(({ index }) => ({
            i: index,
            outcome: 'started',
            about: null,
            amount: null,
          })),
        restWriter(requests, 'started'),
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
        .catch((error: unknown) => Promise.reject(toUpdateFailure(error, pool)))
      if (answer instanceof Error) throw answer
      return answer
    },
    async save(update, holder) {
      const answer = await saves
        .add({ update, holder, turn: randomUUID() })
        .catch((error: unknown) => Promise.reject(toSaveFailure(error, pool)))
      if (answer instanceof Error) throw answer
      return answer
    },
    async drained() {
      await Promise.all([starts.drained(), saves.drained()])
    },
  }
}

/** Moment, shard, locks, requests, and ten lists of rows; the links of the requests come after them. */
const VALUES = Array.from({ length: 14 }, (_, index) => `$${index + 1}`).join(', ')

/** A function of the database, and the outcome after which what it was given is stored. */
interface UpdateStatement {
  readonly text: string
  /** The same, and the rows of the outbox in one statement. The beginning of a text is the name of its plan. */
  readonly textWithNotices: string
}

/**
 * The link before is one that the writer has seen, or the save is refused: so it is stored before the statement begins, and no other
 * comes between. Saves that are not stored add none.
 */
const withLinks = (call: string, stored: string): string => `with ${stored} as materialized (
      select * from ${call}(${VALUES})
    ), linked as (
      insert into session_link (session_id, version, seq, events, ordinal, steps, content_digest, salt, row_digests, hash)
      select given.session_id, given.version, given.seq, given.events, given.ordinal, given.steps, given.content_digest, given.salt,
        given.row_digests,
        encode(sha256(convert_to(coalesce(before.hash, '${CHAIN_START}') || E'\\n' || given.record, 'UTF8')), 'hex')
      from json_to_recordset($15::json) given (
          i integer, session_id uuid, version bigint, seq bigint, events bigint, ordinal bigint, steps bigint, content_digest text,
          salt text, row_digests text, record text
        )
        join ${stored} u on u.i = given.i and u.outcome = '${stored}'
        left join lateral (
          select l.hash from session_link l where l.session_id = given.session_id order by l.version desc limit 1
        ) before on true
    )`

const toLinkColumns = (link: NewLink | undefined, i: number): readonly object[] => {
  if (!link) return []
  const { sessionId, contentDigest, rowDigests, ...columns } = link
  return [{ i, session_id: sessionId, content_digest: contentDigest, row_digests: rowDigests, ...columns }]
}

const toStatement = (call: string, stored: string): UpdateStatement => ({
  text: `/* ${call} */ ${withLinks(call, stored)} select * from ${stored}`,
  textWithNotices: `/* ${call} with notices */ ${withLinks(call, stored)}, told as (
      insert into notice (${COLUMNS})
      select ${COLUMNS_OF_GIVEN}
      from json_to_recordset($16::json) given (i integer, ${TYPED_COLUMNS})
        join ${stored} u on u.i = given.i and u.outcome = '${stored}'
      on conflict (id) do nothing
    )
    select * from ${stored}`,
})

const NOTICE_TYPES = { text: 'text', uuid: 'uuid', integer: 'bigint', boolean: 'boolean', decimal: 'numeric' }
const COLUMNS = NOTICES.columns.map(({ name }) => name).join(', ')
const COLUMNS_OF_GIVEN = NOTICES.columns.map(({ name }) => `given.${name}`).join(', ')
const TYPED_COLUMNS = NOTICES.columns.map(({ name, kind }) => `${name} ${NOTICE_TYPES[kind]}`).join(', ')

const SAVE = toStatement('save_sessions', 'saved')
const START = toStatement('start_sessions', 'started')

/** Where no channel is told anything, the database sees no trace of notices. */
function withNotices(
  { text, textWithNotices }: UpdateStatement,
  requests: readonly PendingSave[],
  values: readonly unknown[],
): [text: string, values: readonly unknown[]] {
  const notices = requests.flatMap(({ update }, i) =>
    (update.notices ?? []).map((each) => ({ i, ...toNoticeColumns(each) })),
  )
  return notices.length === 0 ? [text, values] : [textWithNotices, [...values, toJsonRows(notices)]]
}

/** Writes acts and marks of those requests that are stored; undefined where there are none, which needs no transaction of its own. */
function restWriter(
  requests: readonly PendingSave[],
  stored: string,
):
  | ((tx: PostgresQueries, rows: readonly { readonly i: number; readonly outcome: string }[]) => Promise<void>)
  | undefined {
  if (!requests.some(({ update }) => update.acts ?? update.isTraced)) return undefined
  return async (tx, rows) => {
    for (const { i, outcome } of rows) {
      const update = outcome === stored ? requests[i]?.update : undefined
      if (update?.acts) await writeActs(tx, update.acts)
      if (update?.isTraced) await runWork(tx, markTraced(update))
    }
  }
}

const holderColumns = (holder: LeaseHolder | undefined) => ({
  worker: holder?.worker ?? null,
  ttl_ms: holder?.ttlMs ?? null,
  held_epoch: holder?.epoch ?? null,
})

const toSaveColumns = ({ update, holder, turn }: PendingSave, i: number) => ({
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
  spends.map((spend) =>
    toCostColumns(
      session.workspaceId,
      runs.find(({ id }) => id === spend.runId)!,
      spend,
    ),
  )

const toStartColumnsOf = ({ update, holder, turn, limits, claim }: PendingStart, i: number) => ({
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
  follows: update.follows?.sessionId ?? null,
  follows_version: update.follows?.version ?? null,
})

const triggerOf = ({ session, runs }: SessionUpdate): string | null => (runs.at(-1)?.starter ?? session).triggerId

/** Names of what a start counts or claims: starts that count the same wait for each other. */
function locksOf({ update, limits, claim }: PendingStart): readonly string[] {
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

const isStarted = (answer: StartAnswer): boolean => !(answer instanceof Error) && answer.outcome === 'started'

/** Rows that refer to missing rows are a bug of ours, not content to refuse. */
const toUpdateFailure = (error: unknown, pool: PostgresPool): unknown =>
  hasState(error, 'SV003') ? new Error((error as Error).message, { cause: error }) : pool.toFailure(error)

const toSaveFailure = (error: unknown, pool: PostgresPool): unknown =>
  isContentError(error)
    ? fail('state_not_saved', { why: (error as Error).message }, { cause: error })
    : toUpdateFailure(error, pool)
