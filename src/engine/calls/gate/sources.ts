/**
 * Finds the sources of an argument's value in the steps of the run, of its ancestors and of its sub-agents. Stores nothing
 * besides the steps, so runs whose policies read no sources have no cost. Source: docs/design/policies.md#where-a-value-comes-from
 */
import { canonicalJson, isJsonObject, textOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import {
  findValue,
  isAttributable,
  newSearchBudget,
  SearchExhausted,
  type SearchBudget,
} from '../../../policy/condition/attributable.ts'
import { stepInto } from '../../../policy/condition/path.ts'
import type { PathSegment } from '../../../policy/condition/segment.ts'
import { domainBelow, finiteValues } from '../../../policy/prove/domains.ts'
import { isTaintSource, type JsonSchema } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import { ASK_USER, REQUEST_INPUT, agentNamed, toolNamed } from '../../session/bindings.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import { callsOf } from '../../prompt/call-results.ts'
import type { RunHandle } from '../../transaction/transaction.ts'
import { ownMember } from '../../../base/json/own-member.ts'

const READ_FILE = 'svc.read_file'
/** Attached text files count like results of `svc.read_file`. */
const FILE = `untrusted:tool:${READ_FILE}`

/**
 * The sources of the value of an argument, sorted; undefined = unknown.
 * @param schemas input schemas of what is called
 * @param decision budget of all searches for one decision
 */
export function sourcesOf(
  call: CallHandle,
  segments: readonly PathSegment[],
  schemas: readonly JsonSchema[],
  decision: SearchBudget,
): readonly string[] | undefined {
  const value = at(call.record.arguments, segments)
  if (value === undefined) return undefined
  const names = new Set<string>()
  if (isWrittenByApprover(call, segments, value)) names.add('person')
  const allowed = finiteValues(domainBelow(schemas, segments))
  const isOnly = allowed !== undefined && allowed.length === 1
  if (!isAttributable(value)) {
    if (isOnly) names.add('document')
    return names.size > 0 ? [...names].sort() : undefined
  }
  try {
    const search = { value, budget: newSearchBudget(decision) }
    if (schemas.some((schema) => states(schema, value, search.budget))) names.add('document')
    for (const name of namesIn(call.run, Infinity, search)) names.add(name)
  } catch (error) {
    if (error instanceof SearchExhausted) return undefined
    throw error
  }
  return names.size > 0 ? [...names].sort() : ['model']
}

interface Search {
  readonly value: JsonValue
  readonly budget: SearchBudget
}

function at(value: JsonValue | undefined, segments: readonly PathSegment[]): JsonValue | undefined {
  let here = value
  for (const segment of segments) here = stepInto(here, segment)
  return here
}

/** True where an approver gave another value for this argument than the model did. */
function isWrittenByApprover({ run, record }: CallHandle, segments: readonly PathSegment[], value: JsonValue): boolean {
  const asked = run.lastStep((step) => step.type === 'Reasoning' && callsOf(step).some(({ id }) => id === record.id))
  const proposed = asked && callsOf(asked).find(({ id }) => id === record.id)
  if (!proposed) return false
  const before = at(proposed.arguments, segments)
  return before === undefined || canonicalJson(before) !== canonicalJson(value)
}

/** True where an `enum`, `const` or `default` of the schema is the value. */
function states(schema: JsonSchema, value: JsonValue, budget: SearchBudget): boolean {
  const canonical = canonicalJson(value)
  const isValue = (each: JsonValue): boolean => canonicalJson(each) === canonical
  const visit = (part: JsonValue): boolean => {
    budget.takeValue()
    if (Array.isArray(part)) return part.some(visit)
    if (!isJsonObject(part)) return false
    const { enum: values, const: only, default: usual } = part
    if (Array.isArray(values) && values.some(isValue)) return true
    if ((only !== undefined && isValue(only)) || (usual !== undefined && isValue(usual))) return true
    return Object.values(part).some(visit)
  }
  return typeof schema !== 'boolean' && visit(schema)
}

/** The sources of a value in the steps of a run before a step of the session. */
function namesIn(run: RunHandle, before: number, search: Search): ReadonlySet<string> {
  const names = new Set<string>()
  const hand = (content: JsonValue, ...given: readonly string[]): void => {
    const { isWhole, isToken } = findValue(search.value, content, search.budget)
    for (const name of given) {
      if (isWhole) names.add(name)
      if (isToken) names.add(name.startsWith('text:') ? name : `text:${name}`)
    }
  }
  hand(run.snapshot.instructions.text, 'document')
  handInput(run, search, names)
  for (const text of run.tx.context.attachedTexts(run.id)) hand(text, FILE)
  const sent = new Map<string, RunStep>()
  /** Arguments of calls as the model wrote them or as people edited them, for calls that get an earlier result. */
  const asked = new Map<string, JsonValue>()
  const edits: JsonValue[] = []
  let isFirstMessage = true
  for (const step of run.steps()) {
    if (step.ordinal >= before) break
    const { type, content } = step
    if (type === 'ToolCall' || type === 'SubAgentCall') sent.set(textOf(content['tool_call_id']), step)
    else if (type === 'UserMessage') {
      // The first message is the input, which was searched above.
      if (!isFirstMessage) hand(content['text'] ?? null, 'person')
      isFirstMessage = false
    } else if (type === 'Reasoning') for (const { id, arguments: args } of callsOf(step)) asked.set(id, args)
    else if (type === 'UserTaskRes') {
      handAnswer(run, step, hand)
      if (isJsonObject(content['metadata'])) edits.push(content['metadata']['svc/arguments'] ?? null)
    } else if (type === 'ToolResult' && content['probe_of'] === undefined) {
      const id = textOf(content['tool_call_id'])
      const repeats = content['repeated'] === true ? [asked.get(id) ?? null, ...edits] : undefined
      handResult(run, step, { sent: sent.get(id), repeats }, { search, names, hand })
    } else if (type === 'SubAgentResult') handChildResult(run, step, { search, names, hand })
  }
  return names
}

interface Handing {
  readonly search: Search
  readonly names: Set<string>
  readonly hand: (content: JsonValue, ...names: readonly string[]) => void
}

/** A value in the input of a sub-agent has the sources that it had in the caller. */
function handInput(run: RunHandle, search: Search, names: Set<string>): void {
  const { isWhole, isToken } = findValue(search.value, run.record.input, search.budget)
  if (!isWhole && !isToken) return
  const parent = run.parent()
  if (!parent) {
    if (isWhole) names.add('input')
    if (isToken) names.add('text:input')
    return
  }
  const call = parent.lastStep((step) => step.type === 'SubAgentCall' && step.content['child_run_id'] === run.id)
  for (const name of namesIn(parent, call?.ordinal ?? Infinity, search)) names.add(name)
}

/** The values that a person wrote in a task; if arguments were edited, only the changes. */
function handAnswer(run: RunHandle, step: RunStep, hand: Handing['hand']): void {
  const { text_value, number_value, comment, selected_option_id, metadata, user_task_id } = step.content
  for (const value of [text_value, number_value, comment, selected_option_id])
    if (value !== null && value !== undefined) hand(value, 'person')
  if (!isJsonObject(metadata)) return
  const { 'svc/arguments': edited, 'svc/arguments_digest': _, ...more } = metadata
  hand(more, 'person')
  if (!isJsonObject(edited)) return
  const asked = run.lastStep(({ type, content }) => type === 'UserTaskReq' && content['user_task_id'] === user_task_id)
  const before = asked?.content['arguments']
  for (const changed of changesOf(isJsonObject(before) ? before : {}, edited)) hand(changed, 'person')
}

const changesOf = (before: JsonObject, edited: JsonObject): readonly JsonValue[] =>
  Object.entries(edited).flatMap(([name, value]): readonly JsonValue[] => {
    const old = ownMember(before, name)
    if (old !== undefined && canonicalJson(old) === canonicalJson(value)) return []
    return isJsonObject(old) && isJsonObject(value) ? changesOf(old, value) : [value]
  })

/** How a call got its result: from its tool, or from an earlier equal call. */
interface AskedCall {
  readonly sent: RunStep | undefined
  readonly repeats: JsonValue | undefined
}

function handResult(
  run: RunHandle,
  step: RunStep,
  { sent, repeats }: AskedCall,
  { search, names, hand }: Handing,
): void {
  const { content } = step
  const result = content['result'] ?? null
  const wire = textOf(content['name'])
  // The question of a sub-agent answers the call that delegated to it.
  if (sent?.type === 'SubAgentCall') return handChild(run, sent, result, { search, names, hand })
  const tool = toolNamed(run.snapshot, wire)
  if (!tool) return handAnswerOfParent(run, step, result, { search, names, hand })
  if (tool.id === ASK_USER || tool.id === REQUEST_INPUT) return hand(result, 'person')
  // The result of a call that was never sent comes from svc.
  const asked = sent ? (sent.content['arguments'] ?? {}) : repeats
  if (asked === undefined || isEchoed(search, asked)) return
  hand(result, tool.id === READ_FILE ? FILE : `${isTaintSource(tool) ? 'untrusted:' : ''}tool:${tool.id}`)
}

/** `ask_parent`: the answer keeps the sources that it has in the parent. */
function handAnswerOfParent(run: RunHandle, step: RunStep, result: JsonValue, { search, names, hand }: Handing): void {
  const parent = run.parent()
  if (!parent || !isJsonObject(result) || result['answered_by'] === undefined) return
  if (result['answered_by'] === 'person') return hand(result['answer'] ?? null, 'person')
  const { isWhole, isToken } = findValue(search.value, result['answer'] ?? null, search.budget)
  if (isWhole || isToken) for (const name of namesIn(parent, step.ordinal, search)) names.add(name)
}

function handChildResult(run: RunHandle, step: RunStep, handing: Handing): void {
  const child = step.content['child_run_id']
  const call = run.lastStep((each) => each.type === 'SubAgentCall' && each.content['child_run_id'] === child)
  const { output = null, steps = null } = step.content
  if (call) handChild(run, call, [output, steps, step.error ?? null], handing)
}

/** A sub-agent's text keeps its sources there, plus the sub-agent itself unless it only repeats its input. */
function handChild(run: RunHandle, call: RunStep, value: JsonValue, { search, names, hand }: Handing): void {
  const { isWhole, isToken } = findValue(search.value, value, search.budget)
  if (!isWhole && !isToken) return
  const id = textOf(call.content['child_run_id'])
  const child = run.children().find((each) => each.id === id)
  if (child) for (const name of namesIn(child, Infinity, search)) names.add(name)
  if (isEchoed(search, call.content['input'] ?? null)) return
  const agent = agentNamed(run.snapshot, textOf(call.content['name']))
  hand(value, `agent:${agent?.id ?? textOf(call.content['agent'])}`)
}

/** A source that only echoes the value is none: the value, or an attributable part of it, was in the request. */
function isEchoed({ value, budget }: Search, asked: JsonValue): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some(
      (part: JsonValue) => isAttributable(part) && isEchoed({ value: part, budget }, asked),
    )
  const { isWhole, isToken } = findValue(value, asked, budget)
  return isWhole || isToken
}
