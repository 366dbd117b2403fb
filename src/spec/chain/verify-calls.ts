/**
 * Whether each call of a session that was sent had its decision, and where people decide, their approval of just these arguments. All
 * is read from the chain, so it holds for what was recorded. Source: docs/design/audit.md#calls
 */
import { digestOfJson } from '../../base/digest.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { foldIdentity } from '../../base/identity.ts'
import { hasNeededRoles } from '../people/approver-role.ts'
import { isSameApprover } from '../people/key.ts'
import { isProofAtLeast, type DecisionProof } from '../people/decision-proof.ts'
import {
  HIDDEN_LINE,
  LINES_OF_EVENT,
  LINES_OF_STEP,
  type CallRule,
  type LinkedStep,
  type SessionLink,
  type SessionOffence,
} from './session-link.ts'

/** The newest decision about a call, by the step that records it. */
interface RecordedDecision {
  readonly ordinal: number
  readonly decision: string
}

/** What people were asked, and what they answered. */
interface RecordedApproval {
  readonly ordinal: number
  readonly runId: string
  request: JsonObject
  /** Who may decide it: the role that it takes, and who started the run, where that person may not. */
  readonly needs: JsonObject
  answer?: JsonObject
  /** Roles that people had when they voted. */
  roles?: JsonValue | undefined
  /** The call that was sent with it. */
  usedBy?: string
}

export interface CallVerifier {
  /** Links of one session in order; one whose content is gone says nothing of its calls. */
  check(link: SessionLink): SessionOffence | undefined
  /** Calls that were sent. */
  readonly calls: number
  /** Of them, those that people had decided. */
  readonly approved: number
  /** False once content was missing: nothing is known of the calls from then on. */
  readonly isWhole: boolean
}

export function createCallVerifier(): CallVerifier {
  const decisions = new Map<string, RecordedDecision>()
  const approvals = new Map<string, RecordedApproval>()
  const settled = new Set<string>()
  let [calls, approved, isWhole] = [0, 0, true]

  /** @returns the rule that the dispatch breaks, and how */
  function findFault(step: LinkedStep, call: string, content: JsonObject): Fault | undefined {
    calls++
    if (settled.has(call)) return ['twice', 'was sent again after its result']
    const known = decisions.get(call)
    if (!known) return ['decision', 'was sent without a decision']
    if (known.decision === 'allow') return undefined
    if (known.decision !== 'require_approval' && known.decision !== 'escalate')
      return ['decision', `was sent although it was decided: ${known.decision}`]
    const digest = digestOfJson(content[step.type === 'ToolCall' ? 'arguments' : 'input'])
    const asked = [...approvals.values()].filter(
      ({ runId, ordinal, request }) =>
        runId === step.runId && ordinal > known.ordinal && memberOf(request['tool'], 'name') === content['name'],
    )
    const given = asked.filter(({ answer }) => answer?.['approved'] === true)
    if (given.length === 0) return ['approval', 'was sent without the approval that it needed']
    const same = given.filter(({ request }) => request['arguments_digest'] === digest)
    if (same.length === 0) return ['arguments', 'was sent with other arguments than those that were approved']
    const free = same.find(({ usedBy }) => usedBy === undefined || usedBy === call)
    if (!free) return ['twice', 'was sent with an approval that another call had used']
    free.usedBy = call
    approved++
    return findUnqualified(free)
  }

  return {
    get calls() {
      return calls
    },
    get approved() {
      return approved
    },
    get isWhole() {
      return isWhole
    },
    check({ content, events, session, steps }) {
      // Calls after it may have been decided in it.
      if (content === null) isWhole = false
      if (content === null || !isWhole) return undefined
      const places = new Map(steps.map((step, index) => [step.ordinal, index]))
      for (const [index, { seq, kind, subject, ordinal }] of events.entries()) {
        const offence = (rule: CallRule, what: string): SessionOffence => ({ session, seq, rule, what })
        const place = ordinal === null ? undefined : places.get(ordinal)
        const step = place === undefined ? undefined : steps[place]
        if (step && place !== undefined) {
          places.delete(step.ordinal)
          if (!READ_TYPES.has(step.type)) continue
          const read = parseText(content[place * LINES_OF_STEP])
          const hidden = content[place * LINES_OF_STEP + HIDDEN_LINE]
          if (read === undefined || !isJsonObject(read))
            return offence('content', `Step ${ordinal} has no content (session ${session}).`)
          const fault = readStep(step, read, hidden, subject === 'engine.step.started')
          if (fault)
            return offence(fault[0], `The call ${textIn(read['tool_call_id'])} ${fault[1]} (session ${session}).`)
        } else if (kind === 'user_task') readTask(content[steps.length * LINES_OF_STEP + index * LINES_OF_EVENT])
      }
      return undefined
    },
  }

  function readStep(
    step: LinkedStep,
    content: JsonObject,
    hidden: string | undefined,
    isOpen: boolean,
  ): Fault | undefined {
    const call = `${step.runId} ${textIn(content['tool_call_id'])}`
    const task = approvals.get(textIn(content['user_task_id']))
    switch (step.type) {
      case 'PolicyDecision':
        // A model may name a later call alike.
        settled.delete(call)
        decisions.set(call, { ordinal: step.ordinal, decision: textIn(content['decision']) })
        break
      case 'UserTaskReq': {
        const needs = parseText(hidden)
        approvals.set(textIn(content['user_task_id']), {
          ordinal: step.ordinal,
          runId: step.runId,
          request: content,
          needs: needs !== undefined && isJsonObject(needs) ? needs : {},
        })
        break
      }
      case 'UserTaskRes':
        if (task) [task.answer, task.roles] = [content, memberOf(parseText(hidden), 'roles')]
        break
      case 'ToolResult':
      case 'SubAgentResult':
        settled.add(call)
        break
      default:
        // Steps that a fork took over are closed from the start, tools of the engine decide nothing, and a probe reads the state of
        // a call for a person.
        if (isOpen && content['route'] !== 'builtin' && content['probe_of'] === undefined)
          return findFault(step, call, content)
    }
    return undefined
  }

  /** People may edit the arguments: what they approved is in the event that ends the task. */
  function readTask(line: string | undefined): void {
    const data = parseText(line)
    const task = memberOf(Array.isArray(data) ? data[0] : data, 'task')
    const known = task !== undefined && isJsonObject(task) ? approvals.get(textIn(task['user_task_id'])) : undefined
    if (known) known.request = task as JsonObject
  }
}

type Fault = readonly [rule: CallRule, what: string]

const READ_TYPES: ReadonlySet<string> = new Set([
  'PolicyDecision',
  'UserTaskReq',
  'UserTaskRes',
  'ToolCall',
  'ToolResult',
  'SubAgentCall',
  'SubAgentResult',
])

const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  value !== undefined && isJsonObject(value) ? value[name] : undefined

/** Whoever can write the chain anew can also write what is no JSON. */
function parseText(line: string | undefined): JsonValue | undefined {
  try {
    return line === undefined ? undefined : (JSON.parse(line) as JsonValue)
  } catch {
    return undefined
  }
}

function mightDecide(by: string, needs: JsonObject, roles: JsonValue | undefined): boolean {
  const { approver_role: role, not_by: starter } = needs
  if (typeof starter === 'string' && isSameApprover(by, starter)) return false
  const own = memberOf(roles, by)
  return typeof role !== 'string' || hasNeededRoles(Array.isArray(own) ? own.map(textIn) : [], role)
}

/** Nothing reaches a proof that this version does not know, and an unknown one proves nothing. */
const proofOf = (value: JsonValue | undefined): DecisionProof => (value ?? 'none') as DecisionProof

/** Whether enough people approved who might: with the role and the proof that it took, and others than who started the run. */
function findUnqualified({ request, needs, answer = {}, roles }: RecordedApproval): Fault | undefined {
  if (answer['outcome'] === 'timed_out')
    return request['on_timeout'] === 'allow' ? undefined : ['approver', 'was sent although nobody approved it in time']
  const asked = proofOf(request['approval_proof'])
  const votes = Array.isArray(answer['votes'])
    ? answer['votes'].filter((vote) => memberOf(vote, 'approved') === true)
    : [{ by: answer['completed_by'] ?? null, proof: answer['proof'] ?? null }]
  const people = new Set(
    votes.flatMap((vote) => {
      const [by, proof] = [memberOf(vote, 'by'), memberOf(vote, 'proof')]
      return typeof by === 'string' && isProofAtLeast(proofOf(proof), asked) && mightDecide(by, needs, roles)
        ? foldIdentity(by)
        : []
    }),
  )
  const required = request['kind'] === 'escalation' ? 1 : Number(request['approvals_required'] ?? 1)
  if (people.size < required)
    return ['approver', `was sent with ${people.size} of ${required} approvals by people who might give one`]
  if (request['kind'] === 'escalation' && ![...people].some((by) => by.startsWith('operator:')))
    return ['approver', 'was sent although no operator had decided it']
  return undefined
}
