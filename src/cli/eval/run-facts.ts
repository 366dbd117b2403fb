/** What a played run did, as checks read it: facts, none of them judged. Source: docs/design/evals.md#facts */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { RecordedDecision } from '../../operations/decisions.ts'
import type { CallFacts } from '../../policy/condition/decision.ts'
import { indexRecordedCalls } from '../../policy/replay/recorded-calls.ts'
import { recordedFacts } from '../../policy/replay/recorded-facts.ts'
import type { TimelineItem } from '../../spec/api.ts'
import { NO_COST, type CostSum } from '../../spec/price.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { observeCalls, type ObservedCall } from '../../scenario/observe.ts'
import type { PlayedScenario } from '../../scenario/play.ts'

export interface RunFacts {
  readonly status: string
  readonly output: JsonValue
  readonly error?: string
  readonly errorCode?: string
  /** Calls that were carried out, in order. */
  readonly calls: readonly CallOfRun[]
  /** Ids of tools and sub-agents that agents here can call. */
  readonly callable: readonly string[]
  /** Of the run and its sub-agents. */
  readonly tokens: number
  /** Of the run and its sub-agents. */
  readonly cost: CostSum
  /** On the clock of the wall: waits that pass in virtual time are not in it. */
  readonly seconds: number
}

export interface CallOfRun extends ObservedCall {
  /** A person approved this call, with these arguments. */
  readonly isApproved: boolean
  /** The facts by which policies decided about it; absent where no decision was recorded. */
  readonly facts?: CallFacts
}

/**
 * Undefined where no run was started.
 * @param agents deployed agents, to map wire names to ids
 */
export function readRunFacts(played: PlayedScenario, agents: readonly AgentSnapshot[]): RunFacts | undefined {
  const { run, conversation, evaluated } = played
  if (!run || !conversation || !evaluated) return undefined
  const { decisions, wallMs } = evaluated
  const recorded = indexRecordedCalls(decisions)
  const approvals = approvalsIn(conversation.items)
  const calls = observeCalls(played, agents).map((call): CallOfRun => {
    const decision = decisions.findLast((each) => isAbout(each, call))
    return {
      ...call,
      isApproved: takeApproval(approvals, call),
      ...(decision && { facts: recordedFacts(decision, recorded, call.arguments).facts }),
    }
  })
  return {
    status: run.status,
    output: (run.output ?? null) as JsonValue,
    ...(run.error !== undefined && { error: run.error }),
    ...(run.errorCode !== undefined && { errorCode: run.errorCode }),
    calls,
    callable: [...new Set(agents.flatMap((agent) => [...agent.tools, ...agent.agents].map(({ id }) => id)))],
    tokens: conversation.session.totalTokensUsed,
    cost: run.cost ?? NO_COST,
    seconds: wallMs / 1000,
  }
}

const isAbout = (decision: RecordedDecision, call: ObservedCall): boolean =>
  decision.runId === call.runId && decision.toolCallId === call.callId

/** An approval of a person, of one call. */
interface GivenApproval {
  readonly runId: string
  readonly tool: string
  /** Arguments that were approved: those of the edit, where the person edited them. */
  readonly arguments: JsonValue
}

/** Tasks whose approval by a person lets a call run. */
const APPROVING: ReadonlySet<unknown> = new Set(['approval', 'escalation', 'aitl_escalation'])

function approvalsIn(items: readonly TimelineItem[]): GivenApproval[] {
  const answers = new Map<JsonValue | undefined, JsonObject>()
  for (const { type, content } of items)
    if (type === 'UserTaskRes' && isJsonObject(content)) answers.set(content['user_task_id'], content)
  return items.flatMap(({ type, runId, content }) => {
    if (type !== 'UserTaskReq' || !isJsonObject(content) || !APPROVING.has(content['kind'])) return []
    const answer = answers.get(content['user_task_id'])
    const tool = isJsonObject(content['tool']) ? content['tool']['ref'] : undefined
    // A task that time answers is completed by nobody.
    if (answer?.['approved'] !== true || typeof answer['completed_by'] !== 'string' || typeof tool !== 'string')
      return []
    const edited = isJsonObject(answer['metadata']) ? answer['metadata']['svc/arguments'] : undefined
    return [{ runId, tool, arguments: edited ?? content['arguments'] ?? null }]
  })
}

/** True if one of the approvals is of this call; it stands for no other call then. */
function takeApproval(approvals: GivenApproval[], call: ObservedCall): boolean {
  const args = canonicalJson(call.arguments)
  const at = approvals.findIndex(
    ({ runId, tool, arguments: approved }) =>
      runId === call.runId && tool === call.tool && canonicalJson(approved) === args,
  )
  if (at < 0) return false
  approvals.splice(at, 1)
  return true
}
