/**
 * Probes whether a call of unknown outcome happened. The result is recorded and shown to people; it decides nothing.
 * Source: docs/design/approvals.md#unknown-outcomes
 */
import { toIsoText } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { TaskId } from '../../base/ids.ts'
import { isJsonObject, textOf, type JsonObject } from '../../base/json/json.ts'
import { approverOf, type Principal } from '../../spec/people/key.ts'
import { traceOfCall } from '../../spec/run/run-trace.ts'
import type { BoundTool, AgentSnapshot } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check/check.ts'
import type { ToolInvocation, ToolOutcome } from '../../tools/tool.ts'
import { toolNamed } from '../session/bindings.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import type { SessionDriver } from './drive.ts'
import type { EngineParts } from '../interface/engine.ts'
import { PROBE, type ProbeResult } from '../review/probe.ts'
import { errorTextOf, toolError } from '../calls/settle.ts'

/**
 * Calls the probe tool of a pending review, and records the result in the timeline and in the task.
 * @throws Failure `not_found` where no such review is pending, `validation_failed` where it has no probe that can be called
 */
export async function probeCall(
  { store, tools, redactor, clock }: EngineParts,
  driver: SessionDriver,
  taskId: TaskId,
  by: Principal,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const stored = await store.task(taskId)
  if (!stored) throw fail('not_found', { what: 'user task' })
  const { snapshot, tool, ...target } = await driver.post(stored.sessionId, (tx) => prepareProbe(tx, taskId))
  const route = tools.route(snapshot, tool)
  if (!route) throw fail('validation_failed', { what: `Nothing handles ${tool.id} on this server.` })
  const invocation: ToolInvocation = { ...target, tool, attempt: 1, notAfter: clock.now() + route.timeoutMs }
  const outcome = redactor.json(await route.invoke(invocation, signal))
  const probed: ProbeResult = { name: tool.wire, arguments: target.arguments, ...resultOf(outcome) }
  await driver.post(stored.sessionId, (tx) =>
    recordProbe(tx, taskId, { probed, tool, route: route.route, key: target.idempotencyKey, by: approverOf(by) }),
  )
  return probed
}

function prepareProbe(
  tx: SessionTransaction,
  id: TaskId,
): Omit<ToolInvocation, 'attempt' | 'notAfter'> & { snapshot: AgentSnapshot; arguments: JsonObject } {
  const task = pendingReview(tx, id)
  const run = tx.run(task.runId)
  const { snapshot } = run
  const name = task.tool?.name ?? ''
  const offered = task.context?.['probe']
  // A run that was moved to another version may have lost the tool.
  const tool = isJsonObject(offered) ? toolNamed(snapshot, textOf(offered['name'])) : undefined
  if (!isJsonObject(offered) || tool?.sideEffectClass !== 'read_only')
    throw fail('validation_failed', { what: `${name} has no tool to look with.` }, { fix: PROBE_FIX })
  const given = offered['arguments'] as JsonObject
  const problem = tool.inputSchemas.flatMap((schema) => checkValue(schema, given))[0]
  if (problem)
    throw fail('validation_failed', {
      what: `What ${name} was called with does not fit ${tool.wire}: ${problem.path || 'they'} ${problem.message}.`,
    })
  return {
    snapshot,
    tool,
    arguments: given,
    idempotencyKey: `${textOf(task.context?.['idempotency_key'])}:probe`,
    callId: task.callId!,
    trace: traceOfCall(run.record, `probe ${task.callId!}`),
    run: { id: run.id, sessionId: tx.session.id, agent: snapshot.id, version: snapshot.version },
  }
}

const PROBE_FIX = `A Tool document names it in its label ${PROBE}; the agent binds it as read_only.`

/** @throws Failure `not_found` for a task that is decided, or is no review */
function pendingReview(tx: SessionTransaction, id: TaskId): TaskRecord {
  const task = tx.pendingTasks().find((each) => each.id === id)
  if (task?.kind !== 'anomaly_review') throw fail('not_found', { what: 'review that waits' })
  return task
}

function resultOf(outcome: ToolOutcome): Pick<ProbeResult, 'result' | 'isError' | 'durationMs'> {
  if (outcome.at === 'asked')
    return {
      result: toolError('asks_a_person', 'Its server asks a person first, which a probe does not.'),
      isError: true,
      durationMs: 0,
    }
  if (outcome.at !== 'returned')
    return { result: toolError(`dispatch:${outcome.code}`, outcome.error), isError: true, durationMs: 0 }
  const { result, isError, durationMs } = outcome
  return { result, isError, durationMs }
}

function recordProbe(
  tx: SessionTransaction,
  id: TaskId,
  { probed, tool, route, key, by }: { probed: ProbeResult; tool: BoundTool; route: string; key: string; by: string },
): void {
  const task = pendingReview(tx, id)
  const run = tx.run(task.runId)
  const { name, result, isError, durationMs } = probed
  const shared = { tool_call_id: tx.context.ids.next(), name, probe_of: task.callId!, asked_by: by }
  const callStep = run.addStep(
    'ToolCall',
    {
      ...shared,
      ref: tool.id,
      version: tool.version,
      arguments: probed.arguments,
      side_effect_class: 'read_only',
      attempt: 1,
      idempotency_key: key,
      route,
    },
    { open: true },
  )
  const error = isError ? errorTextOf(result) : undefined
  run.closeStep(callStep, error)
  const content = { ...shared, result, is_error: isError, duration_ms: durationMs }
  run.addStep('ToolResult', content, error === undefined ? {} : { error })
  const offered = task.context?.['probe']
  const found = { result, is_error: isError, at: toIsoText(tx.now), by }
  const context = { ...task.context, probe: { ...(isJsonObject(offered) && offered), found } }
  tx.changeTask({ ...task, context })
}
