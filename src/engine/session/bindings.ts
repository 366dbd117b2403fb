/** What a name on the wire stands for in one agent. */
import type { JsonValue } from '../../base/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { ToolCall } from '../../spec/run.ts'
import { BUILTIN_VERSION, type BoundAgent, type BoundTool, type AgentSnapshot } from '../../spec/snapshot.ts'

export const toolNamed = (snapshot: AgentSnapshot, wire: string): BoundTool | undefined =>
  snapshot.tools.find((tool) => tool.wire === wire)
export const agentNamed = (snapshot: AgentSnapshot, wire: string): BoundAgent | undefined =>
  snapshot.agents.find((agent) => agent.wire === wire)

/** Repeating a call of these classes with its key does no harm. Everything else, undeclared included, is sent once. */
export const isSafe = (sideEffectClass: SideEffectClass | undefined): boolean =>
  sideEffectClass === 'read_only' || sideEffectClass === 'idempotent_write'

export const isUnsafeCall = (snapshot: AgentSnapshot, call: ToolCall): boolean =>
  call.kind === 'tool' && !isSafe(toolNamed(snapshot, call.name)?.sideEffectClass)

/** Tools that are moves of the engine, by logical id. Source: decisions, sections 9 and 10. */
export const ASK_USER = 'svc.ask_user'
export const REQUEST_INPUT = 'svc.request_input'
export const ASK_PARENT = 'svc.ask_parent'
export const ANSWER_SUBAGENT = 'svc.answer_subagent'
export const ESCALATE_TO_PERSON = 'svc.escalate_to_person'

/** Where a run stands, for what the engine offers it. */
export interface RunPosition {
  readonly isChild: boolean
  /** True while a child waits for an answer of this run's model. */
  readonly isAsked: boolean
}

/** Tools that no author binds: offered where they make sense, and never a matter of policy. */
export function offeredMoves(snapshot: AgentSnapshot, { isChild, isAsked }: RunPosition): readonly BoundTool[] {
  if (!isChild && !isAsked) return []
  const moves = [...(isChild ? [ASKING] : []), ...(isAsked ? [ANSWERING, ESCALATING] : [])]
  return moves.filter(({ wire }) => !toolNamed(snapshot, wire) && !agentNamed(snapshot, wire))
}

/** How a call is carried out, and the logical id of what it names. */
export function bindCall(
  snapshot: AgentSnapshot,
  moves: readonly BoundTool[],
  name: string,
): Pick<ToolCall, 'kind' | 'ref'> {
  const tool = toolNamed(snapshot, name)
  if (tool)
    return {
      kind: tool.builtin && (tool.id === ASK_USER || tool.id === REQUEST_INPUT) ? 'builtin' : 'tool',
      ref: tool.id,
    }
  const move = moves.find(({ wire }) => wire === name)
  if (move) return { kind: 'builtin', ref: move.id }
  const agent = agentNamed(snapshot, name)
  return agent ? { kind: 'agent', ref: agent.id } : { kind: 'unknown', ref: name }
}

/** The offered tool that a call stands for; undefined for what an author has bound. */
export const moveOf = (call: Pick<ToolCall, 'kind' | 'ref'>): BoundTool | undefined =>
  call.kind === 'builtin' ? [ASKING, ANSWERING, ESCALATING].find((move) => move.id === call.ref) : undefined

const move = (
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
const ASKING = move(
  ASK_PARENT,
  'Asks the agent that gave you this task, and waits for its answer.',
  { question: TEXT, context: {} },
  ['question'],
)
const ANSWERING = move(
  ANSWER_SUBAGENT,
  'Answers the question of a sub-agent, which then goes on; the result is what it comes to.',
  { request_id: TEXT, answer: TEXT },
  ['request_id', 'answer'],
)
const ESCALATING = move(
  ESCALATE_TO_PERSON,
  'Hands the question of a sub-agent to a person; the result is what the sub-agent comes to.',
  { request_id: TEXT, note: TEXT },
  ['request_id'],
)

/** A value of stored content that is text; empty where it is not. */
export const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
