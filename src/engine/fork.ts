/**
 * Forks of runs: a new run in a session of its own begins with the first steps of another one. Everything after these steps is
 * decided, asked and made anew. Source: docs/design/steering.md#fork
 */
import { fromJson } from '../base/json/typed-json.ts'
import { fail, isFailure } from '../base/failure.ts'
import type { RunId, SessionId } from '../base/ids.ts'
import type { Run, RunState, ToolCall } from '../spec/run/run.ts'
import type { Session } from '../spec/run/session.ts'
import { type RunStep, isWholeCompletion } from '../spec/step.ts'
import type { CallRow, SessionTree, SessionUpdate } from '../store/session-update.ts'
import type { IdempotencyClaim, StartOutcome } from '../store/start-outcome.ts'
import type { SessionStore } from '../store/session-store.ts'
import { proposeCalls } from './calls/calls.ts'
import { checkNotPaused, checkStarter } from './check-start.ts'
import type { SessionDriver } from './drive/drive.ts'
import { copyStep, editedSteps } from './fork-steps.ts'
import { textOf } from '../base/json/json.ts'
import type { EngineParts, ForkRequest, ForkSource, StartedFork } from './interface/engine.ts'
import { CallHandle } from './transaction/call-handle.ts'
import { openTransaction } from './transaction/open-transaction.ts'
import { messagesBefore } from './prompt/earlier.ts'
import { callsOf } from './prompt/call-results.ts'
import { claimOf, closeClaim, findRepeated, toRepeated } from './interface/repeated-request.ts'
import type { RunHandle } from './transaction/transaction.ts'
import { undoneNotes } from './session/undone.ts'
import { actOfStart, contextOf, firstSession, newRootRun } from './start.ts'

/**
 * Reads the parts of a run that a fork takes over.
 * @param isDry a dry fork repeats what happened, without notes about calls undone since
 * @throws Failure `not_found`, `not_a_root_run`, `session_erased`
 */
export async function readForkSource(store: SessionStore, runId: RunId, isDry = false): Promise<ForkSource> {
  const run = await store.run(runId)
  const session = run && (await store.session(run.sessionId))
  if (!session) throw fail('not_found', { what: 'run' })
  if (run.parentRunId !== null) throw fail('not_a_root_run', { runId, rootRunId: session.rootRunId })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  const [all, runs, calls] = await Promise.all([
    store.stepsOfSession(session.id),
    store.runsOfSession(session.id),
    store.calls({ sessionId: session.id }),
  ])
  const undone = isDry ? [] : undoneNotes(runs, () => calls)
  const roots = new Set(runs.filter(({ parentRunId }) => parentRunId === null).map(({ id }) => id))
  const before = messagesBefore(run, { said: all.filter((step) => roots.has(step.runId)), undone })
  return {
    run,
    session,
    before,
    steps: all.filter((step) => step.runId === runId),
    calls: calls.filter((row) => row.runId === runId),
    undone,
  }
}

/** @throws Failure as `startFork` does, where a run cannot be forked so */
export const checkFork = (source: ForkSource, request: Pick<ForkRequest, 'at' | 'edits'>): void =>
  void editedSteps(source, request)

/**
 * Stores a fork, and lets it go on.
 * @throws Failure `step_not_found`, `step_not_forkable`, `step_not_editable`, `agent_paused`, `idempotency_key_reused`, and those of a start that a limit refuses
 */
export async function startFork(
  parts: EngineParts,
  driver: Pick<SessionDriver, 'reload'>,
  source: ForkSource,
  request: ForkRequest,
): Promise<StartedFork> {
  const { idempotency } = request
  const claim = idempotency && claimOf(parts, request.by, `POST /runs/${source.run.id}/fork`, idempotency)
  const before = claim && (await findRepeated(parts, claim))
  if (before) return fromJson<StartedFork>(before, 'runId', 'sessionId')
  checkStarter(request.version)
  await checkNotPaused(parts, request.version)
  const edits = request.edits.map((edit) => ({ ...edit, value: parts.redactor.json(edit.value) }))
  const update = toForkUpdate(parts, source, { ...request, edits })
  const fork: StartedFork = {
    runId: update.session.rootRunId,
    sessionId: update.session.id,
    taken: update.steps.length,
  }
  const started = await storeFork(parts.store, source, request, update, claim && closeClaim(claim, fork))
  if (started.outcome === 'replayed' || started.outcome === 'key_reused')
    return fromJson<StartedFork>(toRepeated(started), 'runId', 'sessionId')
  if (started.outcome === 'plan_limited')
    throw fail('plan_limit_exceeded', { limit: started.limit, value: started.value })
  if (started.outcome !== 'started') throw new Error(`A fork was not started: ${started.outcome}.`)
  driver.reload(update)
  return fork
}

/** Attempts to store a fork while the original session keeps changing. */
const MOST_MOVES = 20

/**
 * The fork counts as a save of the original session: a process that has that session in memory reads it again before its next
 * call, and then also looks at the calls of the fork.
 */
async function storeFork(
  store: SessionStore,
  { session: { id: sessionId } }: ForkSource,
  { limits, isDry = false }: ForkRequest,
  update: SessionUpdate,
  claim: IdempotencyClaim | undefined,
): Promise<StartOutcome> {
  // The store of a dry run does not have that session.
  if (isDry) return store.start(update, limits, claim)
  for (let move = 1; ; move++) {
    const session = await store.session(sessionId)
    if (!session) throw fail('not_found', { what: 'run' })
    if (session.erasedAt !== undefined) throw fail('session_erased')
    try {
      return await store.start({ ...update, follows: { sessionId, version: session.version } }, limits, claim)
    } catch (error) {
      if (!isFailure(error, 'run_moved_on') || move === MOST_MOVES) throw error
    }
  }
}

function toForkUpdate(parts: EngineParts, source: ForkSource, request: ForkRequest): SessionUpdate {
  const steps = editedSteps(source, request)
  const now = parts.clock.now()
  const { version, by, isDry = false } = request
  const { run: old } = source
  const fresh = newRootRun(parts, version, old.input, now, parts.ids.next<'session'>() as SessionId)
  const run: Run = {
    ...fresh,
    usage: {
      ...fresh.usage,
      tainted: old.usage.tainted,
      iterations: steps.filter((step) => isWholeCompletion(step) && callsOf(step).length > 0).length,
    },
    // A dry run is compared with the original, so it must not know of it.
    ...(!isDry && {
      origin: { kind: 'fork', runId: old.id, sessionId: old.sessionId, step: request.at } as const,
    }),
  }
  const { metadata, tags } = source.session
  const starter = {
    triggerType: 'operator',
    triggeredBy: by.id,
    person: null,
    triggerId: null,
    triggerName: null,
  } as const
  const session: Session = {
    ...firstSession(version, run, starter),
    ...(metadata && { metadata }),
    ...(tags && { tags }),
  }
  const tree: SessionTree = { session, runs: [], tasks: [] }
  const tx = openTransaction(tree, { ...contextOf(parts, version, now), maySend: false })
  const root = tx.addRun(run)
  const running = { status: 'Running', output: null, error: null }
  root.addEvent('session', 'engine.session.started', running)
  root.addEvent('run', 'engine.run.started', running)
  for (const step of steps) copyStep(root, step, source)
  root.setState(stateAfter(root, steps, source.calls))
  const limit = root.snapshot.limits.max_wall_clock_seconds
  if (limit !== undefined) root.setTimer('wall_clock', '', now + limit * 1000)
  tx.recordAct(actOfStart(request, run))
  return tx.toUpdate()!
}

/** The first state of the fork: calls of the last completion that have no result, else another completion. */
function stateAfter(run: RunHandle, steps: readonly RunStep[], rows: readonly CallRow[]): RunState {
  const completions = steps.filter(isWholeCompletion)
  const turn = completions.length
  const calls = turn === 0 ? [] : callsOf(completions.at(-1)!)
  const results = new Map(
    steps
      .filter(({ type }) => type === 'ToolResult' || type === 'SubAgentResult')
      .map((step) => [textOf(step.content['tool_call_id']), step]),
  )
  const made = new Map(rows.map((row) => [row.callId, row]))
  // Policies that look back in the run count these calls, under the keys with which they were sent.
  for (const [id] of results) {
    const row = made.get(id)
    if (row) run.tx.recordCallRow({ ...row, runId: run.id, sessionId: run.tx.session.id })
  }
  if (calls.every(({ id }) => results.has(id))) {
    run.setTimer('retry', '', run.tx.now)
    return { at: 'backing_off', turn: turn + 1, attempt: 1, until: run.tx.now }
  }
  const { calls: proposed } = proposeCalls(run, turn, calls)
  return {
    at: 'calling',
    turn,
    calls: proposed.map((call): ToolCall => {
      const result = results.get(call.id)
      if (!result) return call
      const outcome = result.error === null ? 'executed' : 'failed'
      const settled = new CallHandle(run, turn, call).to({ at: 'settled', outcome })
      const row = made.get(call.id)
      if (row) run.tx.recordCallRow({ ...row, runId: run.id, sessionId: run.tx.session.id })
      return settled
    }),
  }
}
