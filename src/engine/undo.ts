/**
 * Undoing what an ended run made, on an operator's word: the plan, and the request. Data flows from the recorded calls to the
 * calls that would undo them (`session/undo-arguments.ts`), which the policies decide in a transaction that is dropped; the
 * request adds the first undoing run (`calls/undo.ts`), and each adds the next. Source: docs/design/steering.md#undo
 */
import { fail } from '../base/failure.ts'
import type { RunId } from '../base/ids.ts'
import { approverOf } from '../spec/people/key.ts'
import { undoneCallOf, type CallReference, type Run } from '../spec/run/run.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { RunStarter } from '../spec/run/starter.ts'
import type { CallRow } from '../store/session-update.ts'
import type { Store } from '../store/store.ts'
import { decideCall } from './calls/gate/decide-call.ts'
import { findArgumentProblems, findTarget } from './calls/gate/target.ts'
import { addUndoRun, type UndoRequester } from './calls/steer/undo.ts'
import type { SessionDriver } from './drive/drive.ts'
import type { EngineParts, PlannedUndo, UndoPlan, UndoRequest } from './interface/engine.ts'
import type { SessionTransaction } from './transaction/transaction.ts'
import {
  calledTool,
  dispatchOf,
  resolveRecorded,
  type CallToUndo,
  type ResolvedUndo,
} from './calls/steer/undo-arguments.ts'
import { undoStateOf } from './session/undone.ts'

/** Calls that have, or may have, changed something. */
const MADE: ReadonlySet<string> = new Set(['executed', 'failed', 'unknown'])

/** @throws Failure `not_found`, `session_erased`, `run_not_ended`, `run_undoes`, `version_gone` */
export async function planUndo(
  { store }: Pick<EngineParts, 'store'>,
  driver: Pick<SessionDriver, 'ask'>,
  runId: RunId,
): Promise<UndoPlan> {
  const run = await readEnded(store, runId)
  const made = await readMade(store, run)
  const items = await driver.ask(
    run.sessionId,
    (tx) => {
      const asker: UndoRequester = { starter: operatorStarter('operator'), by: 'operator:operator', reason: null }
      return made.map((each) => planCall(tx, each, asker))
    },
    { about: [runId] },
  )
  return { run, items }
}

/**
 * Undoes calls of an ended run, newest first; the first that is not undone at once stops those after it until it is.
 * @throws Failure as `planUndo`; `nothing_to_undo`, `call_not_undoable`, and nothing has changed
 */
export async function undoStoredRun(
  parts: Pick<EngineParts, 'store' | 'redactor'>,
  driver: SessionDriver,
  runId: RunId,
  { by, reason, calls, act }: UndoRequest,
): Promise<{ readonly runId: RunId }> {
  const { store, redactor } = parts
  const plan = await planUndo({ store }, driver, runId)
  checkNoneUnderWay(plan.items.flatMap((item) => (item.at === 'under_way' ? [item.by] : [])))
  const asked = orderAsked(plan, calls)
  const [first] = asked
  if (!first) throw fail('nothing_to_undo', { runId })
  const starter = operatorStarter(by.id)
  const requester = { starter, by: approverOf(by), reason: reason === undefined ? null : redactor.text(reason) }
  const id = await driver.post(
    plan.run.sessionId,
    (tx) => {
      // Another operator may have asked for an undo since, or resumed the run.
      const now = tx.run(runId)
      if (now.state.at !== 'done') throw fail('run_not_ended', { runId, status: now.statusNow() })
      checkNoneUnderWay(tx.runs())
      for (const { call } of asked) checkOpen(call, tx)
      tx.recordAct(act)
      const refs = asked.map(({ call }) => call)
      return addUndoRun(tx.run(first.call.runId), first.call, first.undo, { ...requester, calls: refs }).run.id
    },
    { about: [runId] },
  )
  // The session is read again before anything leaves, because the undoing call needs all steps of the run that made the call.
  void driver.release(plan.run.sessionId)
  return { runId: id }
}

async function readEnded(store: Store, runId: RunId): Promise<Run> {
  const run = await store.run(runId)
  const session = run && (await store.session(run.sessionId))
  if (!session) throw fail('not_found', { what: 'run' })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  const undone = undoneCallOf(run)
  if (undone) throw fail('run_undoes', { runId, undone: undone.runId })
  if (run.state.at !== 'done') throw fail('run_not_ended', { runId, status: run.status })
  return run
}

interface MadeCall extends CallToUndo {
  readonly run: Run
  readonly ref: CallReference
  readonly order: number
}

/** The calls that a run and its descendants made, newest first. */
async function readMade(store: Store, root: Run): Promise<readonly MadeCall[]> {
  const runs = await store.treesOf(root.sessionId, [root.id])
  const rows = await store.calls({ sessionId: root.sessionId, runIds: runs.map(({ id }) => id) })
  const made: MadeCall[] = []
  for (const run of belowRun(root, runs)) {
    const own = rows.filter((row) => row.runId === run.id && MADE.has(row.state) && isOwn(row))
    if (own.length === 0) continue
    const snapshot = await readSnapshot(store, run)
    const steps = await store.stepsOfRun(run.id)
    for (const row of own) {
      const recorded: CallToUndo = { row, state: run.state, snapshot, steps }
      const tool = calledTool(recorded)
      // Reads and svc's own tools change nothing outside; a delegation is undone by undoing the calls of its run.
      if (!tool || tool.builtin || tool.sideEffectClass === 'read_only') continue
      const order = dispatchOf(steps, row.callId)?.ordinal ?? 0
      made.push({ ...recorded, run, ref: { runId: run.id, callId: row.callId }, order })
    }
  }
  return made.sort((a, b) => b.order - a.order)
}

async function readSnapshot(store: Store, run: Run): Promise<AgentSnapshot> {
  const version = await store.version(run.agentVersionId)
  if (!version) throw fail('version_gone', { runId: run.id, version: run.versionLabel })
  return version.snapshot
}

/** False for a call that a fork took over: the forked run made it. */
const isOwn = ({ runId, idempotencyKey }: CallRow): boolean => idempotencyKey.startsWith(`svc:${runId}:`)

/** A run and those that it delegated to; runs that undo calls are left out. */
function belowRun(root: Run, runs: readonly Run[]): readonly Run[] {
  const children = runs.filter((run) => run.parentRunId === root.id && !undoneCallOf(run))
  return [root, ...children.flatMap((child) => belowRun(child, runs))]
}

/** Plans one call. Those planned before it count for policies that count calls. */
function planCall(tx: SessionTransaction, made: MadeCall, asker: UndoRequester): PlannedUndo {
  const { row, run, ref } = made
  const about = {
    call: ref,
    agent: run.agentName,
    tool: row.ref,
    madeAt: row.at,
    arguments: row.arguments,
  }
  const state = undoStateOf(ref, tx.runs(), tx.callRows())
  if (state.at === 'undone') return { ...about, at: 'undone', by: state.run }
  if (state.at === 'under_way') return { ...about, at: 'under_way', by: state.run }
  if (state.at === 'unknown')
    return { ...about, at: 'final', why: `Nobody knows whether run ${state.run.id} undid it: its review comes first.` }
  const resolved = resolveRecorded(made)
  if ('why' in resolved) return { ...about, at: 'final', why: resolved.why }
  const checked = tryUndo(tx, made, resolved, asker)
  if ('why' in checked) return { ...about, at: 'final', why: checked.why }
  return {
    ...about,
    at: 'open',
    undo: resolved,
    decision: checked.decision,
    ...(state.failed && { failed: state.failed }),
  }
}

type TriedUndo = { readonly why: string } | { readonly decision: Extract<PlannedUndo, { at: 'open' }>['decision'] }

/** Decides the call that would undo another one; the transaction is dropped. */
function tryUndo(
  tx: SessionTransaction,
  { ref, snapshot }: MadeCall,
  undo: ResolvedUndo,
  asker: UndoRequester,
): TriedUndo {
  const call = addUndoRun(tx.run(ref.runId), ref, undo, asker)
  const target = findTarget(call)
  if ('error' in target) return { why: `There is no tool ${undo.tool}.` }
  const [problem] = findArgumentProblems(target, undo.arguments)
  if (problem)
    return {
      why: `The arguments do not fit ${undo.tool}: ${problem.path === '' ? 'they' : problem.path} ${problem.message}.`,
    }
  if (!tx.context.routeOf(snapshot, call.tool!)) return { why: `Nothing handles ${undo.tool} on this server.` }
  const { decision } = decideCall(call, target)
  if (decision.decision !== 'deny') call.recordAs('approved')
  return {
    decision: {
      verdict: decision.decision,
      explanation: decision.explanation,
      ...(decision.obligations && { approvals: decision.obligations.approvals_required ?? 1 }),
    },
  }
}

interface AskedUndo {
  readonly call: CallReference
  readonly undo: ResolvedUndo
}

/** The calls that an operator named, newest first; all that may be undone where none are named. */
function orderAsked({ items, run }: UndoPlan, named: readonly CallReference[] | undefined): readonly AskedUndo[] {
  const isSame = (one: CallReference, other: CallReference): boolean =>
    one.runId === other.runId && one.callId === other.callId
  for (const call of named ?? []) {
    const item = items.find((each) => isSame(each.call, call))
    if (!item) throw fail('call_not_undoable', { ...call, why: `run ${run.id} made no such call` })
    if (item.at !== 'open' || item.decision.verdict === 'deny')
      throw fail('call_not_undoable', { ...call, why: whyNot(item) })
  }
  return items.flatMap((item): AskedUndo[] => {
    if (item.at !== 'open' || item.decision.verdict === 'deny') return []
    const isAsked = named === undefined || named.some((call) => isSame(call, item.call))
    return isAsked ? [{ call: item.call, undo: item.undo }] : []
  })
}

function whyNot(item: PlannedUndo): string {
  switch (item.at) {
    case 'undone':
      return CLOSED.undone(item.by.id)
    case 'under_way':
      return CLOSED.under_way(item.by.id)
    case 'open':
      return `the policies deny it: ${item.decision.explanation}`
    case 'final':
      return `${item.why.charAt(0).toLowerCase()}${item.why.slice(1).replace(/\.$/, '')}`
  }
}

/** Calls are undone newest first, so an older call waits for an undo in progress. */
function checkNoneUnderWay(runs: readonly Run[]): void {
  for (const run of runs) {
    const undone = undoneCallOf(run)
    if (undone && run.state.at !== 'done')
      throw fail('undo_under_way', { runId: run.id, undone: undone.runId, status: run.status })
  }
}

const CLOSED: Readonly<Record<'undone' | 'under_way' | 'unknown', (run: string) => string>> = {
  undone: (run) => `run ${run} has undone it`,
  under_way: (run) => `run ${run} is undoing it`,
  unknown: (run) => `nobody knows whether run ${run} has undone it, and its review comes first`,
}

function checkOpen(call: CallReference, tx: SessionTransaction): void {
  const state = undoStateOf(call, tx.runs(), tx.callRows())
  if (state.at === 'open') return
  const run = state.run.id
  const why = CLOSED[state.at](run)
  throw fail('call_not_undoable', { ...call, why })
}

const operatorStarter = (id: string): RunStarter => ({
  triggerType: 'operator',
  triggeredBy: id,
  person: null,
  triggerId: null,
  triggerName: null,
})
