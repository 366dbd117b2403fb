/**
 * Why an agent makes a call, for the person who decides it: the last words of its model, and results that the run had before and
 * that concern the arguments of the call. Source: docs/design/approvals.md#the-card
 */
import { shortenText } from '../../../base/text/cut-text.ts'
import { safeJson } from '../../../base/text/escape-text.ts'
import { isJsonObject, textOf, type JsonValue } from '../../../base/json/json.ts'
import { findValue, isAttributable, SearchBudget, SearchExhausted } from '../../../policy/condition/attributable.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { TaskEvidence, TaskRequest } from '../../../spec/task.ts'
import { agentNamed } from '../../session/bindings.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import type { RunHandle } from '../../transaction/transaction.ts'

/** Steps that are searched, the newest. */
const MOST_STEPS = 400
const MOST_EVIDENCE = 4
/** The conversation has them whole. */
const MOST_OF_REASONING = 500
const MOST_OF_RESULT = 240

/** Members of the task about a call. */
export function describeGrounds(call: CallHandle): Pick<TaskRequest, 'reasoning' | 'evidence'> {
  const steps = call.run.steps().slice(-MOST_STEPS)
  const said = steps.findLast(({ type, content }) => type === 'Reasoning' && textOf(content['text']).trim() !== '')
  const evidence = findEvidence(call, steps)
  return {
    ...(said && { reasoning: cutInOneLine(textOf(said.content['text']), MOST_OF_REASONING) }),
    ...(evidence.length > 0 && { evidence }),
  }
}

const cutInOneLine = (text: string, most: number): string =>
  shortenText(
    text
      .slice(0, 4 * most)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    most,
  )

/** The newest results about an argument of the call, and those of sub-agents, oldest first. */
function findEvidence({ run, record }: CallHandle, steps: readonly RunStep[]): readonly TaskEvidence[] {
  const given = isJsonObject(record.arguments) ? Object.entries(record.arguments) : []
  const sought = given.filter(([, value]) => isAttributable(value))
  const sent = new Map<string, RunStep>()
  for (const step of steps) {
    if (step.type === 'ToolCall') sent.set(textOf(step.content['tool_call_id']), step)
    else if (step.type === 'SubAgentCall') sent.set(textOf(step.content['child_run_id']), step)
  }
  const budget = new SearchBudget(20_000, 2 * 1024 * 1024)
  const found: TaskEvidence[] = []
  try {
    for (const step of steps.toReversed()) {
      if (found.length === MOST_EVIDENCE) break
      const told = readResult(run, step, sent)
      if (!told) continue
      const about = sought.flatMap(([name, value]) =>
        [told.asked, told.result].some((each) => {
          const { isWhole, isToken } = findValue(value, each, budget)
          return isWhole || isToken
        })
          ? [name]
          : [],
      )
      if (about.length === 0 && !told.isVerdict) continue
      const result = shortenText(safeJson(told.result), MOST_OF_RESULT)
      found.unshift({ ref: told.ref, about, result, ...(told.isFailed && { failed: true as const }) })
    }
  } catch (error) {
    // What was found is shown; the run may hold more than one search reads.
    if (!(error instanceof SearchExhausted)) throw error
  }
  return found
}

interface ToldResult {
  readonly ref: string
  readonly asked: JsonValue
  readonly result: JsonValue
  /** A sub-agent was asked for it: it counts whatever values it names. */
  readonly isVerdict: boolean
  readonly isFailed: boolean
}

/** The result in a step, with what was asked; undefined for other steps, and for results that only people see. */
function readResult(
  run: RunHandle,
  { type, content, error }: RunStep,
  sent: ReadonlyMap<string, RunStep>,
): ToldResult | undefined {
  if (type === 'ToolResult' && content['probe_of'] === undefined) {
    const call = sent.get(textOf(content['tool_call_id']))?.content
    return {
      ref: textOf(call?.['ref']) || textOf(content['name']),
      asked: call?.['arguments'] ?? null,
      result: content['result'] ?? null,
      isVerdict: false,
      isFailed: content['is_error'] === true,
    }
  }
  if (type !== 'SubAgentResult') return undefined
  const call = sent.get(textOf(content['child_run_id']))?.content
  const isFailed = content['status'] !== 'Completed'
  return {
    ref: agentNamed(run.snapshot, textOf(call?.['name']))?.id ?? textOf(call?.['agent']),
    asked: call?.['input'] ?? null,
    result: isFailed ? (error ?? content['status'] ?? null) : (content['output'] ?? null),
    isVerdict: true,
    isFailed,
  }
}
