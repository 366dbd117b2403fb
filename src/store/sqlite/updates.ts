import type { Clock, Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { FIRST_EPOCH, type LeaseHolder, type SessionLease } from '../lease.ts'
import type { IdempotencyClaim, RepeatedRequest, StartOutcome, StartLimits } from '../start-outcome.ts'
import type { Store } from '../store.ts'
import type { SessionLabels } from '../queries.ts'
import type { SessionUpdate, StoredTree } from '../session-update.ts'
import type { AgentTable } from './agents.ts'
import type { CallTable } from './calls.ts'
import type { CostTable } from './spending/costs.ts'
import type { EffectTable } from './effects.ts'
import type { EventTable } from './events.ts'
import type { LinkTable } from './sessions/session-links.ts'
import { toNewLink } from '../rows/link-rows.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { NewNotice } from '../../spec/notice.ts'
import type { IdempotencyTable } from './idempotency.ts'
import type { PlanTable } from './spending/plan.ts'
import type { QuotaTable } from './spending/quotas.ts'
import type { RunTable } from './runs.ts'
import type { RestoredTable } from './sessions/restored.ts'
import type { LabelTable } from './sessions/session-labels.ts'
import type { LeaseColumns, SessionFence, SessionTable } from './sessions/sessions.ts'
import type { HistoryFence } from './history-fence.ts'
import type { StepTable } from './steps.ts'
import type { TaskTable } from './tasks.ts'
import type { TimerTable } from './timers.ts'

interface UpdateTables {
  readonly restored: Pick<RestoredTable, 'holdOfNew' | 'hold'>
  readonly sessions: SessionTable
  readonly labels: LabelTable
  readonly runs: RunTable
  readonly steps: StepTable
  readonly events: EventTable
  readonly links: LinkTable
  readonly tasks: TaskTable
  readonly calls: CallTable
  readonly readTrees: (sessionId: SessionId, ids: readonly RunId[]) => readonly Run[]
  readonly readSession: (id: SessionId) => Session | undefined
  readonly findEarlierStart: (...request: Parameters<Store['findEarlierStart']>) => RepeatedRequest | undefined
  readonly readPending: (sessionId: SessionId) => readonly TaskRecord[]
  readonly effects: EffectTable
  readonly history: HistoryFence
  readonly timers: TimerTable
  readonly quotas: QuotaTable
  readonly costs: CostTable
  readonly plan: PlanTable
  readonly agents: AgentTable
  readonly idempotency: IdempotencyTable
  readonly addNotices: (notices: readonly NewNotice[]) => void
  readonly markTraced: (update: SessionUpdate) => void
  readonly addAct: (act: NewAct) => void
  readonly clock: Clock
}

/** Reads and writes all tables of a session. Each writing method runs inside the transaction of its caller. */
export interface SessionUpdates {
  start(
    update: SessionUpdate,
    limits: StartLimits,
    claim: IdempotencyClaim | undefined,
    holder: LeaseHolder | undefined,
  ): StartOutcome
  /** @throws Failure `run_moved_on`, `lease_lost`, `effect_taken`, `history_moved_on`, `plan_spent`, `plan_reserved`, `not_found` */
  save(update: SessionUpdate, holder: LeaseHolder | undefined): SessionLease | undefined
  load(sessionId: SessionId): StoredTree | undefined
  /** @throws Failure `not_found`, `session_erased` */
  label(id: SessionId, labels: SessionLabels): void
}

export function openSessionUpdates(parts: UpdateTables): SessionUpdates {
  const {
    restored,
    sessions,
    labels,
    runs,
    steps,
    events,
    links,
    tasks,
    calls,
    readTrees,
    readPending,
    readSession,
    findEarlierStart,
    effects,
    history,
    timers,
    quotas,
    costs,
    plan,
    agents,
    idempotency,
    addNotices,
    markTraced,
    addAct,
    clock,
  } = parts

  const writeRows = (n: number, update: SessionUpdate) => {
    const numbers = new Map<RunId, number>()
    const runNumber = (id: RunId): number => {
      const n = numbers.get(id) ?? runs.numberOf(id)
      if (n === undefined) throw new Error(`Run ${id} is not in the store.`)
      numbers.set(id, n)
      return n
    }
    const isNew = update.session.version === 0
    for (const run of update.runs) numbers.set(run.id, isNew ? runs.add(n, run) : runs.put(n, run))
    const texts = steps.add(n, update.steps, runNumber)
    for (const end of update.closedSteps) steps.close(n, end)
    tasks.put(n, update.tasks, (task) => runNumber(task.runId))
    for (const call of update.calls) calls.put(n, runNumber(call.runId), call)
    const data = events.add(n, update.events, runNumber, update.runs)
    const link = toNewLink(update, { steps: texts, data })
    if (link) links.add(n, link)
    // Cleared first, so that an update may replace a timer.
    for (const timer of update.clearTimers) timers.clear(n, runNumber(timer.runId), timer)
    for (const timer of update.setTimers) timers.set(n, runNumber(timer.runId), timer)
    if (update.notices) addNotices(update.notices)
    if (update.isTraced) markTraced(update)
    for (const act of update.acts ?? []) addAct(act)
    // After the costs of this update, which count against the plan.
    if (update.plan) plan.apply(update.session.workspaceId, update.plan, runNumber, clock.now())
  }

  const findUnchanged = ({ id, version }: Pick<Session, 'id' | 'version'>): SessionFence => {
    const stored = sessions.readFence(id)
    if (!stored) throw missingSession()
    if (stored.version !== version) throw fail('run_moved_on', { sessionId: id, seen: version })
    return stored
  }

  /**
   * Writes the row of a session that nobody has saved since.
   * @returns its number, the tokens that the update counts, and the epoch of the lease that the holder has afterwards
   */
  const writeSession = (update: SessionUpdate, holder: LeaseHolder | undefined, now: Instant) => {
    const { session, spends, events } = update
    const spent = spends.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0)
    const advanced = holder && sessions.advance(update, spent, holder, now)
    if (advanced !== undefined) {
      checkEventNumbers(update, session.lastSeq - events.length)
      return { n: advanced, tokens: spent, epoch: holder?.epoch }
    }
    const stored = findUnchanged(session)
    const lease = leaseAfter(update, stored, holder, now)
    checkEventNumbers(update, stored.lastSeq)
    sessions.update(stored, update, lease)
    const epoch = holder && lease.owner === holder.worker ? lease.epoch : undefined
    return { n: stored.n, tokens: session.totalTokensUsed - stored.tokens, epoch }
  }

  return {
    start(update, limits, claim, holder) {
      const now = clock.now()
      const { session } = update
      if (claim) {
        const { principal, route, key, bodyDigest } = claim
        const earlier = findEarlierStart(principal, route, key, bodyDigest, now)
        if (earlier) return earlier
      }
      const stored = session.version === 0 ? undefined : findUnchanged(session)
      const { follows } = update
      const followed = follows && findUnchanged({ id: follows.sessionId, version: follows.version })
      const { triggerId } = update.runs.at(-1)?.starter ?? session
      const refusal = quotas.admit({ workspaceId: session.workspaceId, triggerId }, limits, now)
      if (refusal) return refusal
      if (claim) idempotency.insert(claim, now)
      if (followed) sessions.raiseVersion(followed.n)
      checkEventNumbers(update, stored?.lastSeq ?? 0)
      if (stored) {
        sessions.replaceRoot(stored.n, session)
        if (update.labels) labels.set(session.id, update.labels)
        sessions.update(stored, update, leaseAfter(update, stored, undefined, now))
      }
      const heldSince = stored ? undefined : restored.holdOfNew(session)
      // Nobody performs the effects of a held session, so nobody holds its lease.
      const lease: LeaseColumns =
        holder && update.busy && heldSince === undefined
          ? { owner: holder.worker, epoch: FIRST_EPOCH, leaseUntil: now + holder.ttlMs }
          : { owner: null, epoch: 0, leaseUntil: null }
      const n = stored?.n ?? sessions.insert(update, lease)
      if (heldSince !== undefined) restored.hold(n, heldSince)
      writeRows(n, update)
      return { outcome: 'started' }
    },
    save(update, holder) {
      const { session } = update
      const now = clock.now()
      const { n, tokens, epoch } = writeSession(update, holder, now)
      if (tokens > 0) quotas.addTokens(session.workspaceId, tokens, now)
      for (const spend of update.spends) {
        const { agentId, agentName, versionLabel } = update.runs.find(({ id }) => id === spend.runId)!
        const agentN = agents.numberOf(agentId, session.workspaceId, agentName)
        costs.add(session.workspaceId, agentN, versionLabel, spend, now)
      }
      if (update.historySeen !== undefined) history.raise(session.workspaceId, update.historySeen)
      for (const change of update.effects ?? []) effects.apply(session.workspaceId, change)
      for (const claim of update.claims ?? []) idempotency.insert(claim, now)
      writeRows(n, update)
      return epoch === undefined ? undefined : { sessionId: session.id, epoch }
    },
    label(id, given) {
      if (!labels.set(id, given)) throw sessions.numberOf(id) === undefined ? missingSession() : fail('session_erased')
    },
    load(sessionId) {
      const stored = sessions.readFence(sessionId)
      const session = readSession(sessionId)
      if (!stored || !session) return undefined
      const { n, owner, leaseUntil } = stored
      const isHeld = owner !== null && (leaseUntil ?? 0) > clock.now()
      const pending = readPending(sessionId)
      const changing = [session.rootRunId, ...runs.atWork(n), ...pending.map(({ runId }) => runId)]
      return { session, runs: readTrees(sessionId, changing), tasks: pending, ...(isHeld && { heldBy: owner }) }
    },
  }
}

const missingSession = () => fail('not_found', { what: 'session' })

/**
 * The lease as a save leaves it. A session that is not busy has no holder; one that nobody holds is taken by the worker that saves.
 * @throws Failure `lease_lost` where the worker does not hold the session and cannot take it
 */
function leaseAfter(
  { session: { id }, busy }: SessionUpdate,
  { owner, epoch, leaseUntil }: SessionFence,
  holder: LeaseHolder | undefined,
  now: number,
): LeaseColumns {
  const isHeld = owner !== null && (leaseUntil ?? 0) > now
  if (!holder) return busy ? { owner, epoch, leaseUntil } : { owner: null, epoch, leaseUntil: null }
  const isTaken = holder.epoch === undefined
  const isRefused = isTaken
    ? isHeld && owner !== holder.worker
    : !isHeld || owner !== holder.worker || epoch !== holder.epoch
  if (isRefused) throw fail('lease_lost', { sessionId: id })
  if (!busy) return { owner: null, epoch, leaseUntil: null }
  return isTaken
    ? { owner: holder.worker, epoch: epoch + 1, leaseUntil: now + holder.ttlMs }
    : { owner, epoch, leaseUntil }
}

/** Events must continue the stored ones without a gap: readers resume by number. */
function checkEventNumbers({ session, events }: SessionUpdate, lastSeq: number): void {
  const gap = events.some((event, index) => event.seq !== lastSeq + index + 1)
  if (gap || session.lastSeq !== lastSeq + events.length)
    throw new Error(`Events of session ${session.id} do not follow number ${lastSeq} without a gap.`)
}
