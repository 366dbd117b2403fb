/** Looks up the tools and agents that an agent's names refer to. */
import type { JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { ToolCall } from '../../spec/run/run.ts'
import { BUILTIN_VERSION, type BoundAgent, type BoundTool, type AgentSnapshot } from '../../spec/snapshot.ts'

export const toolNamed = (snapshot: AgentSnapshot, wire: string): BoundTool | undefined =>
  snapshot.tools.find((tool) => tool.wire === wire)
export const agentNamed = (snapshot: AgentSnapshot, wire: string): BoundAgent | undefined =>
  snapshot.agents.find((agent) => agent.wire === wire)

/** True for classes whose calls may be repeated with the same key. All others, undeclared ones included, are sent once. */
export const isRepeatable = (sideEffectClass: SideEffectClass | undefined): boolean =>
  sideEffectClass === 'read_only' || sideEffectClass === 'idempotent_write'

export const isUnsafeCall = (snapshot: AgentSnapshot, call: ToolCall): boolean =>
  call.kind === 'tool' && !isRepeatable(toolNamed(snapshot, call.name)?.sideEffectClass)

/** Tools that the engine carries out itself, by logical id. Source: docs/design/models-and-tools.md#sub-agents */
export const ASK_USER = 'svc.ask_user'
export const REQUEST_INPUT = 'svc.request_input'
export const WAIT_UNTIL = 'svc.wait_until'
export const WAIT_EVENT = 'svc.wait_event'
export const ASK_PARENT = 'svc.ask_parent'
export const ANSWER_SUBAGENT = 'svc.answer_subagent'
export const ESCALATE_TO_PERSON = 'svc.escalate_to_person'

/** Built-in tools that an author binds. */
const CARRIED_OUT_HERE: ReadonlySet<string> = new Set([ASK_USER, REQUEST_INPUT, WAIT_UNTIL, WAIT_EVENT])

/** True for a tool of an author that the engine carries out: it asks or waits on behalf of a model. */
export const isCarriedOutHere = ({ builtin, id }: Pick<BoundTool, 'builtin' | 'id'>): boolean =>
  builtin === true && CARRIED_OUT_HERE.has(id)

/** The relations of a run that decide which built-in tools it is offered. */
export interface RunPosition {
  readonly isChild: boolean
  /** True while a child waits for an answer of this run's model. */
  readonly isAsked: boolean
}

/** Built-in tools that no author binds. They are offered where they apply, and no policy is evaluated for them. */
export function offeredTools(snapshot: AgentSnapshot, { isChild, isAsked }: RunPosition): readonly BoundTool[] {
  if (!isChild && !isAsked) return []
  const tools = [...(isChild ? [ASK_PARENT_TOOL] : []), ...(isAsked ? [ANSWER_SUBAGENT_TOOL, ESCALATE_TOOL] : [])]
  return tools.filter(({ wire }) => !toolNamed(snapshot, wire) && !agentNamed(snapshot, wire))
}

/** How a call is carried out, and the logical id of what it names. */
export function bindCall(
  snapshot: AgentSnapshot,
  offered: readonly BoundTool[],
  name: string,
): Pick<ToolCall, 'kind' | 'ref'> {
  const tool = toolNamed(snapshot, name)
  if (tool)
    return {
      kind: isCarriedOutHere(tool) ? 'builtin' : 'tool',
      ref: tool.id,
    }
  const builtin = offered.find(({ wire }) => wire === name)
  if (builtin) return { kind: 'builtin', ref: builtin.id }
  const agent = agentNamed(snapshot, name)
  return agent ? { kind: 'agent', ref: agent.id } : { kind: 'unknown', ref: name }
}

/** The offered tool that a call names; undefined for tools that an author bound. */
export const offeredToolOf = (call: Pick<ToolCall, 'kind' | 'ref'>): BoundTool | undefined =>
  call.kind === 'builtin'
    ? [ASK_PARENT_TOOL, ANSWER_SUBAGENT_TOOL, ESCALATE_TOOL].find((tool) => tool.id === call.ref)
    : undefined

const offeredTool = (
  id: string,
  description: string,
  properties: Record<string, JsonValue>,
  required: string[],
): BoundTool => {
  const schema = { type: 'object', properties, required, additionalProperties: false }
  return {
    wire: id.slice('svc.'.length),
    id,
    version: BUILTIN_VERSION,
    description,
    inputSchema: schema,
    inputSchemas: [schema],
    sideEffectClass: 'read_only',
    labels: {},
    builtin: true,
  }
}
const TEXT = { type: 'string', minLength: 1 }
const ASK_PARENT_TOOL = offeredTool(
  ASK_PARENT,
  'Asks the agent that gave you this task, and waits for its answer.',
  { question: TEXT, context: {} },
  ['question'],
)
const ANSWER_SUBAGENT_TOOL = offeredTool(
  ANSWER_SUBAGENT,
  'Answers the question of a sub-agent, which then goes on; the result is what it comes to.',
  { request_id: TEXT, answer: TEXT },
  ['request_id', 'answer'],
)
const ESCALATE_TOOL = offeredTool(
  ESCALATE_TO_PERSON,
  'Hands the question of a sub-agent to a person; the result is what the sub-agent comes to.',
  { request_id: TEXT, note: TEXT },
  ['request_id'],
)
