/** Runs of sub-agents: starting one, and settling the delegation call when it ends. */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { NOTHING_USED, type ToolCall, type Run } from '../../spec/run.ts'
import type { RunStep } from '../../spec/step.ts'
import type { AgentVersion } from '../../store/store.ts'
import { agentNamed, textOf } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { openStepOf, settleAs, passTaint } from './settle.ts'

/** A new run, not started yet: a root or a child. */
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

/** Starts the child run of a delegation call, in the transaction that records the call, so that a call has one child at most. */
export function startChildRun(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  const parent = tx.run(id)
  const version = tx.context.childOf(agentNamed(tx.snapshot(id), call.name)!)!
  const child = newRun(version, {
    id: tx.context.ids.next(),
    sessionId: parent.sessionId,
    parentRunId: id,
    parentCallId: call.id,
    depth: parent.depth + 1,
    // `authorizeCall` has checked that the arguments are an object.
    input: call.arguments as JsonObject,
    startedAt: tx.now,
  })
  tx.putRun(child)
  passTaint(tx, child.id, id)
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

/** Settles the call that waits for a child with the outcome of the child. */
export function receiveChildResult(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  childId: RunId,
): ToolCall {
  const child = tx.run(childId)
  passTaint(tx, id, childId)
  const isError = child.status !== 'Completed'
  const full = agentNamed(tx.snapshot(id), textOf(delegationStep(tx, id, childId)?.content['name']))?.result === 'full'
  const steps = full ? traceOf(tx, childId) : undefined
  // Closes the delegation and, if this call answered a question of the child instead, its own step too.
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

/** The step of the delegation that started a child. */
const delegationStep = (tx: SessionTransaction, id: RunId, child: RunId): RunStep | undefined =>
  tx.lastStep(id, (step) => step.type === 'SubAgentCall' && step.content['child_run_id'] === child)

/** All steps of a child, for a parent that binds it with `result: full`. */
const traceOf = (tx: SessionTransaction, id: RunId): JsonValue[] =>
  tx
    .stepsOf(id)
    .filter((step) => step.type !== 'RunCompleted')
    .map((step): JsonObject => ({ type: step.type, content: step.content }))
