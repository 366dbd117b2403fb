/** Runs of sub-agents: how one begins, and what its end means to the call that asked for it. */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { NOTHING_USED, type ToolCall, type Run } from '../../spec/run.ts'
import type { RunStep } from '../../spec/step.ts'
import type { AgentVersion } from '../../store/store.ts'
import { agentNamed, textOf } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { openStepOf, settleAs, taintFrom } from './settle.ts'

/** A run that has not begun: the root of a tree or a child. */
export function newRun(
  version: AgentVersion,
  about: Pick<Run, 'id' | 'sessionId' | 'parentRunId' | 'parentCallId' | 'depth' | 'input' | 'startedAt'>,
): Run {
  return {
    id: about.id,
    sessionId: about.sessionId,
    workspaceId: version.workspaceId,
    agentId: version.agentId,
    agentName: version.snapshot.id,
    agentVersionId: version.id,
    versionLabel: version.snapshot.version,
    llmModel: version.snapshot.model.name,
    parentRunId: about.parentRunId,
    parentCallId: about.parentCallId,
    depth: about.depth,
    input: about.input,
    state: { at: 'thinking', turn: 1, attempt: 1 },
    status: 'Running',
    usage: NOTHING_USED,
    lastSequence: 0,
    output: null,
    error: null,
    errorCode: null,
    startedAt: about.startedAt,
    finishedAt: null,
  }
}

/** Starts the child of a delegation call. Call and child are written in one transaction, so a call has one child. */
export function startChildRun(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  const parent = tx.run(id)
  const version = tx.context.childOf(agentNamed(tx.snapshot(id), call.name)!)!
  const child = newRun(version, {
    id: tx.context.ids.next(),
    sessionId: parent.sessionId,
    parentRunId: id,
    parentCallId: call.id,
    depth: parent.depth + 1,
    // The gate has checked that the arguments are an object.
    input: call.arguments as JsonObject,
    startedAt: tx.now,
  })
  tx.putRun(child)
  taintFrom(tx, child.id, id)
  tx.addStep(
    id,
    'SubAgentCall',
    {
      tool_call_id: call.id,
      name: call.name,
      child_run_id: child.id,
      agent: child.agentName,
      version: child.versionLabel,
      input: call.arguments,
    },
    { open: true },
  )
  tx.addEvent(id, 'run', 'engine.subagent.spawned', {
    childRunId: child.id,
    agentName: child.agentName,
    depth: child.depth,
  })
  tx.queueEvent(child.id, { type: 'started' })
  const next: ToolCall = { ...call, state: { at: 'delegated', child: child.id } }
  tx.recordCall(id, turn, next)
  return next
}

/** Turns what a child came to into the result of the call that it answers. */
export function receiveChildResult(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  childId: RunId,
): ToolCall {
  const child = tx.run(childId)
  taintFrom(tx, id, childId)
  const isError = child.status !== 'Completed'
  const full = agentNamed(tx.snapshot(id), textOf(delegationStep(tx, id, childId)?.content['name']))?.result === 'full'
  const steps = full ? traceOf(tx, childId) : undefined
  // The delegation itself, and the answer to its question that this call may be.
  const error = isError ? (child.error ?? undefined) : undefined
  const delegation = delegationStep(tx, id, childId)
  if (delegation?.finishedAt === null) tx.closeStep(delegation, error)
  const answer = openStepOf(tx, id, call.id)
  if (answer && answer.id !== delegation?.id) tx.closeStep(answer, error)
  tx.addStep(
    id,
    'SubAgentResult',
    {
      tool_call_id: call.id,
      child_run_id: childId,
      status: child.status,
      output: child.output,
      ...(steps && { steps }),
    },
    isError && child.error !== null ? { error: child.error } : {},
  )
  return settleAs(tx, id, turn, call, { outcome: isError ? 'failed' : 'executed' })
}

/** The step with which a child began. */
const delegationStep = (tx: SessionTransaction, id: RunId, child: RunId): RunStep | undefined =>
  tx.lastStep(id, (step) => step.type === 'SubAgentCall' && step.content['child_run_id'] === child)

/** What a child did, for a parent whose binding says `result: full`. */
const traceOf = (tx: SessionTransaction, id: RunId): JsonValue[] =>
  tx
    .stepsOf(id)
    .filter((step) => step.type !== 'RunCompleted')
    .map((step): JsonObject => ({ type: step.type, content: step.content }))
