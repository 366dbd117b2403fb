/** Runs of sub-agents: starting one, and settling the delegation call when it ends. */
import type { RunId } from '../../base/ids.ts'
import { textOf, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { NOTHING_USED, type ToolCall, type Run } from '../../spec/run/run.ts'
import { traceOfCall } from '../../spec/run/run-trace.ts'
import type { RunStep } from '../../spec/step.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import { agentNamed } from '../session/bindings.ts'
import type { CallHandle } from '../transaction/call-handle.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { noVersionError } from './gate/target.ts'
import { markSettled, passTaint, settleWithError } from './settle.ts'

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

/**
 * Starts the child run of a delegation call, in the transaction that records the call, so that a call has one child at most. None
 * starts where the deployment of a late-bound agent ended after the decision.
 */
export function startChildRun(call: CallHandle): ToolCall {
  const { tx, run, record } = call
  const agent = agentNamed(run.snapshot, record.name)!
  const version = tx.context.childOf(agent)
  if (!version) return settleWithError(call, 'not_sent', noVersionError(agent))
  const fresh = newRun(version, {
    id: tx.context.ids.next(),
    sessionId: tx.session.id,
    parentRunId: run.id,
    parentCallId: record.id,
    depth: run.record.depth + 1,
    // `authorizeCall` has checked that the arguments are an object.
    input: record.arguments as JsonObject,
    startedAt: tx.now,
  })
  const child = tx.addRun({ ...fresh, usage: { ...fresh.usage, trace: traceOfCall(run.record, record.id) } })
  const { agentName, versionLabel, depth } = child.record
  passTaint(child, run)
  run.addStep(
    'SubAgentCall',
    {
      tool_call_id: record.id,
      name: record.name,
      child_run_id: child.id,
      agent: agentName,
      version: versionLabel,
      input: record.arguments,
    },
    { open: true },
  )
  run.addEvent('run', 'engine.subagent.spawned', { childRunId: child.id, agentName, depth })
  child.queueEvent({ type: 'started' })
  return call.to({ at: 'delegated', child: child.id })
}

/** Settles the call that waits for a child with the outcome of the child. */
export function receiveChildResult(call: CallHandle, childId: RunId): ToolCall {
  const { run, record } = call
  const child = call.tx.run(childId)
  const { status, output, error: childError } = child.record
  passTaint(run, child)
  const isError = status !== 'Completed'
  const delegation = delegationStep(run, childId)
  const isFull = agentNamed(run.snapshot, textOf(delegation?.content['name']))?.result === 'full'
  const steps = isFull ? traceOf(child) : undefined
  // Closes the delegation and, if this call answered a question of the child instead, its own step too.
  const error = isError ? (childError ?? undefined) : undefined
  if (delegation?.finishedAt === null) run.closeStep(delegation, error)
  const answer = call.openStep()
  if (answer && answer.id !== delegation?.id) run.closeStep(answer, error)
  run.addStep(
    'SubAgentResult',
    { tool_call_id: record.id, child_run_id: childId, status, output, ...(steps && { steps }) },
    error === undefined ? {} : { error },
  )
  return markSettled(call, { outcome: isError ? 'failed' : 'executed' })
}

/** The step of the delegation that started a child. */
const delegationStep = (run: RunHandle, child: RunId): RunStep | undefined =>
  run.lastStep((step) => step.type === 'SubAgentCall' && step.content['child_run_id'] === child)

/** All steps of a child, for a parent that binds it with `result: full`. */
const traceOf = (child: RunHandle): JsonValue[] =>
  child
    .steps()
    .filter((step) => step.type !== 'RunCompleted')
    .map((step): JsonObject => ({ type: step.type, content: step.content }))
