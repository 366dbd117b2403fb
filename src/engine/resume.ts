/** Resumes a run for an operator. Source: docs/design/steering.md#resume */
import { fail } from '../base/failure.ts'
import type { RunId } from '../base/ids.ts'
import { outageHold, pausedSince } from '../spec/run/hold.ts'
import { approverOf } from '../spec/people/key.ts'
import type { SessionDriver } from './drive/drive.ts'
import { advanceRun } from './machine/advance.ts'
import type { EngineParts, ResumedRun, ResumeRequest } from './interface/engine.ts'
import type { RunHandle } from './transaction/transaction.ts'
import { isPartlyUndone } from './session/undone.ts'

/** A run that fails again and again is resumed this often at most. */
const MAX_RESUMES = 100

/** @throws Failure; see `Engine.resume` */
export async function resumeStoredRun(
  { store, redactor }: Pick<EngineParts, 'store' | 'redactor'>,
  driver: SessionDriver,
  runId: RunId,
  { by, reason, version, grants = false, seen, act }: ResumeRequest,
): Promise<ResumedRun> {
  const run = await store.run(runId)
  const session = run && (await store.session(run.sessionId))
  if (!session) throw fail('not_found', { what: 'run' })
  if (session.erasedAt !== undefined) throw fail('session_erased')
  const runs = await store.treesOf(session.id, [runId])
  const why = reason === undefined ? null : redactor.text(reason)
  const event = {
    type: 'resumed',
    by: approverOf(by),
    reason: why,
    grants,
    ...(version && version.id !== run.agentVersionId && { version }),
  } as const
  const versions = [...runs.map(({ agentVersionId }) => agentVersionId), ...(version ? [version.id] : [])]
  const status = await driver.post(
    session.id,
    (tx) => {
      if (seen !== undefined && tx.session.version !== seen) throw fail('run_moved_on', { sessionId: session.id, seen })
      const here = tx.run(runId)
      checkResumable(here)
      const isHeld = here.state.at !== 'done'
      if (isHeld)
        here.addStep('RunResumed', { resumed_by: event.by, reason: why, status: here.record.status, error: null })
      if (isHeld && event.version) throw fail('run_not_ended', { runId, status: here.record.status })
      if (isHeld) for (const held of tx.runs().filter((each) => outageHold(each))) advanceRun(tx.run(held.id), event)
      else advanceRun(here, event)
      tx.recordAct(act)
      return here.statusNow()
    },
    { about: [runId], versions },
  )
  // The resumption is stored, so the caller does not wait for its effects.
  void driver.release(session.id)
  return { runId, status }
}

function checkResumable({ id: runId, record, state, usage, tx }: RunHandle): void {
  const { rootRunId } = tx.session
  if (record.parentRunId !== null) throw fail('not_a_root_run', { runId, rootRunId })
  if (rootRunId !== runId) throw fail('session_went_on', { runId, newest: rootRunId })
  if (state.at !== 'done') {
    if (tx.context.heldSince !== undefined)
      throw fail(
        'run_not_resumable',
        { runId, why: 'it came from a backup' },
        { fix: 'Release it with svc restore --resume.' },
      )
    if (pausedSince({ state }) !== undefined)
      throw fail(
        'run_not_resumable',
        { runId, why: 'it is paused' },
        { fix: 'svc runs get shows what ends the pause.' },
      )
    if (!tx.runs().some((each) => outageHold(each))) throw fail('run_not_ended', { runId, status: record.status })
    return
  }
  if (state.outcome === 'completed') throw fail('run_completed', { runId })
  // Its model does not know that calls were undone.
  if (isPartlyUndone(tx.runs(), tx.callRows()))
    throw fail('run_not_resumable', {
      runId,
      why: 'something that it did was undone, is being undone, or may have been',
    })
  if (!state.from)
    throw fail('run_not_resumable', { runId, why: 'it ended under a version of svc that did not keep where' })
  if ((usage.resumes ?? 0) >= MAX_RESUMES)
    throw fail('run_not_resumable', { runId, why: `it was resumed ${MAX_RESUMES} times` })
}
