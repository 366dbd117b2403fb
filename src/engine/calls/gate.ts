/**
 * Authorizes calls: checks binding and arguments, evaluates policies, and asks a person where they require it.
 * Source: policies, sections 1, 4 and 5.
 */
import { digestOfJson, type Digest } from '../../base/digest.ts'
import type { InvalidPlace } from '../../base/failure.ts'
import type { DecisionId, RunId } from '../../base/ids.ts'
import { InexactNumberError, describeInexactNumber, unsafeNumberIn } from '../../base/exact-number.ts'
import { isJsonObject, MAX_JSON_LEVELS, parseJson, type JsonObject, type JsonValue } from '../../base/json.ts'
import { factsOfAgent, factsOfTool } from '../../policy/callee-facts.ts'
import { decideByPolicies } from '../../policy/decide.ts'
import type { PolicyDecision, CallFacts, PolicySets } from '../../policy/condition/decision.ts'
import { recordHistoryReads, type HistorySeen } from '../../policy/condition/history.ts'
import type { ToolCall } from '../../spec/run.ts'
import { DEFAULT_MAX_TOOL_CALLS, type JsonSchema } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { delegationSchema } from '../../spec/delegation.ts'
import { checkValue } from '../../tools/check.ts'
import { agentNamed, isUnsafeCall, offeredToolOf, textOf, toolNamed } from '../session/bindings.ts'
import type { SessionTransaction, NewTask } from '../session/transaction.ts'
import { factsOf, type DispatchTrigger } from '../limits/facts.ts'
import { depthBreach } from '../limits/limits.ts'
import { settleCall, toolError } from './settle.ts'

/**
 * Authorizes a proposed call: `ready` when it may be sent now, `awaiting` when a person is asked, else settled with an error
 * for the model. An approved call is authorized again, and passes only if the approval covers what is required now.
 */
export function authorizeCall(tx: SessionTransaction, id: RunId, turn: number, call: ToolCall): ToolCall {
  const most = tx.snapshot(id).maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS
  if (call.index >= most) {
    const message = `One answer may make ${most} calls (svc/max-tool-calls). This call was not made; make it in your next answer.`
    const result = toolError('limit:max_tool_calls', message, { value: most })
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  const target = targetOf(tx, id, call)
  if ('error' in target)
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result: target.error, isError: true })
  const problems = problemsOf(target, call.arguments)
  if (problems.length > 0) {
    const result = toolError('invalid_arguments', `The arguments of ${call.name} are not valid.`, {
      details: problems.map(({ path, message }) => ({ path, message })),
    })
    return settleCall(tx, id, turn, call, { outcome: 'invalid', result, isError: true })
  }
  if (target.isBuiltin) return { ...call, state: { at: 'ready' } }
  const decided = decideCall(tx, id, call, target)
  const { decision } = decided
  const approved = call.state.at === 'proposed' ? call.state.approved : undefined
  if (approved && decision.decision !== 'deny' && isCoveredByApproval(tx, id, call, approved, decision)) {
    return { ...call, state: { at: 'ready' } }
  }
  const recorded = recordDecision(tx, id, call, decided)
  if (decision.decision === 'deny') {
    const message = decision.message ?? decision.explanation
    const result = toolError('denied', message, { decision_id: recorded.decisionId! })
    return settleCall(tx, id, turn, recorded, { outcome: 'denied', result, isError: true })
  }
  if (decision.decision === 'allow') {
    const ready: ToolCall = { ...recorded, state: { at: 'ready' } }
    tx.recordCall(id, turn, ready)
    return ready
  }
  return askPerson(tx, id, turn, recorded, decision, target.tool)
}

/** Records a decision with those facts that cannot be derived later. `decision_id` is the id of its step. */
function recordDecision(
  tx: SessionTransaction,
  id: RunId,
  call: ToolCall,
  { decision, facts: known, history }: GateDecision,
): ToolCall {
  const { run, session, tool, svc } = known
  const { trigger } = svc.dispatch
  const { iteration, elapsed_seconds, tokens_used, taint } = run
  const facts = {
    run: { iteration, elapsed_seconds, tokens_used, taint },
    session: { ...session },
    ...(trigger !== 'none' && { dispatch: trigger }),
    ...(Object.keys(history).length > 0 && { history: { ...history } }),
    // A delegation may reach another version later.
    ...(tool.kind === 'agent' && { tool: { version: tool.version, labels: { ...tool.labels } } }),
  }
  const content = {
    tool_call_id: call.id,
    name: call.name,
    decision: decision.decision,
    policies: decision.policies.map((each): JsonObject => ({ ...each })),
    explanation: decision.explanation,
    ...(decision.error !== undefined && { reason: decision.error }),
  }
  const step = tx.addStep(id, 'PolicyDecision', content, { hidden: { facts } })
  return { ...call, decisionId: step.id as string as DecisionId }
}

/** The tool or agent that a call would reach. */
interface CallTarget {
  readonly tool: CallFacts['tool']
  /** True for tools that the engine offers itself: no policy is attached to them. */
  readonly isBuiltin?: boolean
  /** The arguments must match all of them. */
  readonly schemas: readonly JsonSchema[]
}

function targetOf(tx: SessionTransaction, id: RunId, call: ToolCall): CallTarget | { readonly error: JsonObject } {
  const snapshot = tx.snapshot(id)
  const builtin = offeredToolOf(call)
  if (builtin) return { tool: factsOfTool(builtin), schemas: builtin.inputSchemas, isBuiltin: true }
  const tool = toolNamed(snapshot, call.name)
  if (tool) {
    const described = tool.inputSchemas.length === 0 ? tx.context.describedBy(tool) : undefined
    return { tool: factsOfTool(tool), schemas: described === undefined ? tool.inputSchemas : [described] }
  }
  const agent = agentNamed(snapshot, call.name)
  if (!agent) return { error: toolError('unknown_tool', `There is no tool named ${call.name}.`) }
  const version = tx.context.childOf(agent)
  if (!version) return { error: toolError('no_deployed_version', `No version of ${agent.id} can be run.`) }
  const chain = chainOf(tx, id)
  if (chain.includes(agent.id)) {
    return {
      error: toolError('delegation_cycle', `${agent.id} is already at work here: ${[...chain, agent.id].join(' > ')}.`),
    }
  }
  const depth = depthBreach(tx, id)
  if (depth) {
    return {
      error: toolError(
        'limit:max_subagent_depth',
        `Delegation may be nested ${depth.value} deep; this would be ${depth.used}.`,
      ),
    }
  }
  return {
    tool: factsOfAgent(agent, version.snapshot),
    schemas: [delegationSchema(agent.inputSchema, version.snapshot.inputContract)],
  }
}

/** Names of the agents from the root to this run. */
function chainOf(tx: SessionTransaction, id: RunId): readonly string[] {
  const chain: string[] = []
  for (let at: RunId | null = id; at !== null; at = tx.run(at).parentRunId) chain.unshift(tx.run(at).agentName)
  return chain
}

function problemsOf(target: CallTarget, value: JsonValue): readonly InvalidPlace[] {
  if (!isJsonObject(value)) return [{ path: '', message: 'must be a JSON object' }]
  if (typeof value['$unparsed'] === 'string') {
    const inexact = inexactIn(value['$unparsed'])
    if (inexact) return [inexact]
    return [
      {
        path: '',
        message: `must be a JSON object; what was sent is not valid JSON or has more than ${MAX_JSON_LEVELS} levels`,
      },
    ]
  }
  // A number parsed by an SDK may differ from the one that the model wrote.
  const unsafe = unsafeNumberIn(value)
  if (unsafe) return [{ path: unsafe.pointer, message: describeInexactNumber(unsafe.value) }]
  return target.schemas.flatMap((schema) => checkValue(schema, value))
}

/** The inexact number for which JSON text was refused; undefined where it was refused for another reason. */
function inexactIn(text: string): InvalidPlace | undefined {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof InexactNumberError)
      return { path: error.pointer, message: describeInexactNumber(error.written) }
  }
  return undefined
}

/** Policies of the run's version, and those of its ancestors, of which only inherited gates apply. */
function policySetsOf(tx: SessionTransaction, id: RunId): PolicySets {
  const ancestors = []
  for (let above = tx.run(id).parentRunId; above !== null; above = tx.run(above).parentRunId) {
    ancestors.push(tx.snapshot(above).policies)
  }
  return { own: tx.snapshot(id).policies, ancestors }
}

/** A decision and the facts it was made from. */
interface GateDecision {
  readonly decision: PolicyDecision
  readonly facts: CallFacts
  readonly history: HistorySeen
}

function decideCall(
  tx: SessionTransaction,
  id: RunId,
  call: ToolCall,
  target: CallTarget,
  trigger: DispatchTrigger = 'none',
): GateDecision {
  const { facts, seen } = recordHistoryReads(factsOf(tx, id, call, target.tool, trigger))
  const decision = decideByPolicies(policySetsOf(tx, id), call.name, facts)
  return { decision: isDuplicate(tx, id, call) ? guardDuplicate(decision) : decision, facts, history: seen }
}

/** States that make a later equal call a duplicate; calls that failed for certain or never ran are left out. */
const MAY_HAVE_HAPPENED = new Set(['executed', 'sent', 'unknown', 'ready', 'awaiting', 'approved'])

/** True for an unsafe call that repeats an earlier one: models sometimes make the same call twice. Source: reliability, "Duplicate guard". */
function isDuplicate(tx: SessionTransaction, id: RunId, call: ToolCall): boolean {
  if (!isUnsafeCall(tx.snapshot(id), call)) return false
  return tx
    .callRows()
    .some(
      (row) =>
        row.runId === id &&
        row.callId !== call.id &&
        row.ref === call.ref &&
        row.argumentsDigest === call.argumentsDigest &&
        MAY_HAVE_HAPPENED.has(row.state),
    )
}

function guardDuplicate(decision: PolicyDecision): PolicyDecision {
  if (decision.decision === 'deny') return decision
  const reasons = [...decision.reasons, 'duplicate_call']
  if (decision.decision !== 'allow') return { ...decision, reasons }
  return {
    ...decision,
    decision: 'require_approval',
    reasons,
    explanation: 'duplicate_call: the same tool was called with the same arguments before in this run.',
    obligations: {
      approvals_required: 1,
      comprehension_required: false,
      on_reject: 'return_to_agent',
      on_modify: 'revalidate',
    },
  }
}

/** True when the approved action is the one that would run, and policies require no more of people now than then. */
function isCoveredByApproval(
  tx: SessionTransaction,
  id: RunId,
  call: ToolCall,
  approved: { task: string; digest: Digest },
  decision: PolicyDecision,
): boolean {
  if (actionDigest(tx, id, call) !== approved.digest) return false
  if (decision.decision === 'allow') return true
  const request = tx.lastStep(
    id,
    (step) => step.type === 'UserTaskReq' && step.content['user_task_id'] === approved.task,
  )
  if (decision.decision === 'escalate') return request?.content['kind'] === 'escalation'
  const needed = decision.obligations?.approvals_required ?? 1
  return request?.content['kind'] === 'escalation' || Number(request?.content['approvals_required'] ?? 1) >= needed
}

/** Digest that identifies an action, so that only the approved action runs. Source: policies, section 5. */
export function actionDigest(
  tx: SessionTransaction,
  id: RunId,
  call: Pick<ToolCall, 'id' | 'name' | 'ref' | 'arguments'>,
): Digest {
  const snapshot = tx.snapshot(id)
  const agent = agentNamed(snapshot, call.name)
  const version =
    toolNamed(snapshot, call.name)?.version ?? (agent && tx.context.childOf(agent)?.snapshot.version) ?? ''
  return digestOfJson({
    agent_version_id: tx.run(id).agentVersionId,
    run_id: id,
    tool_call_id: call.id,
    tool: { id: call.ref, version },
    arguments: call.arguments,
    policy_set: snapshot.policies.digest,
  })
}

/**
 * Asks a person about a call that could not be carried out, if a policy of type escalate or require_approval that tests
 * `svc.dispatch` says so. Undefined if none does. Source: policies, section 2, root `svc`.
 */
export function routeToPerson(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  trigger: DispatchTrigger,
): ToolCall | undefined {
  const { policies } = tx.snapshot(id)
  const routing = policies.entries.filter(
    (entry) => entry.when !== undefined && JSON.stringify(entry.when).includes('svc.dispatch'),
  )
  const target = routing.length > 0 ? targetOf(tx, id, call) : undefined
  if (!target || 'error' in target) return undefined
  const decided = decideCall(tx, id, call, target, trigger)
  const { decision } = decided
  const decider = decision.policies[0]
  const isRouted =
    (decision.decision === 'escalate' || decision.decision === 'require_approval') &&
    decider?.matched === 'true' &&
    routing.some((entry) => entry.policy === decider.id)
  return isRouted
    ? askPerson(tx, id, turn, recordDecision(tx, id, call, decided), decision, target.tool, 'dispatch')
    : undefined
}

function askPerson(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  call: ToolCall,
  decision: PolicyDecision,
  tool: CallFacts['tool'],
  about?: 'dispatch',
): ToolCall {
  const task = tx.openTask({ ...toTask(tx, id, call, decision, tool), ...(about && { about }) })
  const next: ToolCall = { ...call, state: { at: 'awaiting', task: task.id } }
  tx.recordCall(id, turn, next)
  return next
}

function toTask(
  tx: SessionTransaction,
  id: RunId,
  call: ToolCall,
  decision: PolicyDecision,
  tool: CallFacts['tool'],
): NewTask {
  const { obligations } = decision
  const escalation = decision.decision === 'escalate'
  const timeout = escalation && obligations?.timeout?.default === 'escalate' ? undefined : obligations?.timeout
  const { tainted } = tx.run(id).usage
  return {
    runId: id,
    kind: escalation ? 'escalation' : 'approval',
    ...(escalation && { about: 'policy' as const }),
    callId: call.id,
    title: `${tx.run(id).agentName} wants to call ${call.name}`,
    prompt: decision.explanation,
    ...(decision.reasons.length > 0 && { reason: decision.reasons.join('; ') }),
    tool: { name: call.name, ref: call.ref, version: tool.version, side_effect_class: tool.side_effect_class ?? null },
    arguments: call.arguments,
    argumentsDigest: call.argumentsDigest,
    actionDigest: actionDigest(tx, id, call),
    ...(call.decisionId && { decisionId: call.decisionId }),
    policies: decision.policies,
    ...(decision.authorityRef !== undefined && { authorityRef: decision.authorityRef }),
    approvalsRequired: escalation ? 1 : (obligations?.approvals_required ?? 1),
    ...(obligations?.comprehension_required && { comprehensionRequired: true }),
    ...(obligations?.approver_role !== undefined && { approverRole: obligations.approver_role }),
    ...(obligations?.separation_of_duties && { separationOfDuties: true }),
    ...(tainted && { context: { tainted: true } }),
    onReject: obligations?.on_reject ?? 'return_to_agent',
    onModify: obligations?.on_modify ?? 'revalidate',
    ...(timeout && { onTimeout: timeout.default, expiresAt: tx.now + timeout.after_minutes * 60_000 }),
  }
}

/** The task with edited arguments and, unless `onModify` is `accept`, the policies' decision about them. */
export function withEdit(
  tx: SessionTransaction,
  task: TaskRecord,
  call: ToolCall,
  given: JsonObject,
  approver: string,
): TaskRecord {
  const changed = withEditedArguments(call, given)
  const target = targetOf(tx, task.runId, call)
  const decision =
    task.onModify === 'accept' || 'error' in target ? undefined : decideCall(tx, task.runId, changed, target).decision
  const { argumentsDigest } = changed
  return {
    ...task,
    arguments: given,
    argumentsDigest,
    actionDigest: actionDigest(tx, task.runId, changed),
    ...(decision && { policies: decision.policies }),
    // If the edited arguments need no approval, the original reason stays.
    ...(decision && decision.decision !== 'allow' && { prompt: decision.explanation }),
    edits: [
      ...(task.edits ?? []),
      { approver, at: tx.now, argumentsDigest, ...(decision && { decision: decision.decision }) },
    ],
  }
}

/** Why edited arguments are refused; undefined when they may be voted on. */
export function findEditProblem(
  tx: SessionTransaction,
  task: TaskRecord,
  call: ToolCall,
  edited: JsonObject,
): string | undefined {
  if (task.onModify === 'reject') return 'The arguments of this call may not be edited.'
  const target = targetOf(tx, task.runId, call)
  if ('error' in target) return textOf(target.error['message'])
  const problem = problemsOf(target, edited)[0]
  if (problem) return `The edited arguments are not valid: ${problem.path || 'they'} ${problem.message}.`
  if (task.onModify === 'accept') return undefined
  const { decision } = decideCall(tx, task.runId, withEditedArguments(call, edited), target)
  if (decision.decision === 'deny') return `The edited arguments are denied: ${decision.explanation}`
  if (decision.decision === 'escalate' && task.kind !== 'escalation')
    return `The edited arguments need an operator: ${decision.explanation}`
  if ((decision.obligations?.approvals_required ?? 1) > (task.approvalsRequired ?? 1)) {
    return `The edited arguments need more approvals: ${decision.explanation}`
  }
  return undefined
}

export const withEditedArguments = (call: ToolCall, edited: JsonObject): ToolCall => ({
  ...call,
  arguments: edited,
  argumentsDigest: digestOfJson(edited),
})
