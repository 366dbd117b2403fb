/** Scripted answers to tasks: `decide` of a scenario, and the file of `svc run --decide`. */
import { parseDuration } from '../base/duration.ts'
import { toAnswerBody } from '../client/index.ts'
import type { JsonObject } from '../base/json/json.ts'
import { createFinding, type Diagnostic } from '../documents/text/diagnostic.ts'
import type { DocumentSpans } from '../documents/text/document.ts'
import { readCondition } from '../policy/condition/condition.ts'
import type { CallFacts } from '../policy/condition/decision.ts'
import { evaluateCondition } from '../policy/condition/evaluate.ts'
import type { ShownTask } from '../spec/task.ts'
import { firstCallFacts } from '../policy/condition/first-call.ts'
import { readOption } from '../client/task-option.ts'

export interface DecisionRule {
  /** Kind of task, or `reply`. */
  readonly task?: string
  /** Logical id of the held tool. */
  readonly tool?: string
  /** Condition on the held call, as in a policy. */
  readonly when?: JsonObject
  /** Time from the question to the answer; at once when absent. */
  readonly after?: string
  readonly approve?: boolean
  readonly reject?: string | boolean
  readonly decide?: 'approve' | 'reject'
  readonly reason?: string
  readonly edit?: JsonObject
  readonly text?: string
  readonly number?: number
  readonly option?: string | number
  readonly as?: string
  readonly roles?: readonly string[]
}

/** The parts of a task that rules match. For a reply, `id` names the question. */
export type WaitingTask = Pick<
  ShownTask,
  'id' | 'kind' | 'tool' | 'arguments' | 'options' | 'argumentsDigest' | 'question'
>

export interface ScriptedAnswers {
  /**
   * The rule that answers: the first matching one that has answered nothing yet, else the first matching one. No rule answers
   * one task twice, so two approvals need two rules; a rule for replies is used once.
   */
  choose(task: WaitingTask): DecisionRule | undefined
  /** Records that the rule answered the task. */
  recordUse(rule: DecisionRule, task: WaitingTask): void
}

export function createScriptedAnswers(rules: readonly DecisionRule[]): ScriptedAnswers {
  const answered = new Map<DecisionRule, Set<string>>()
  return {
    choose(task) {
      const fitting = rules.filter((rule) => matchesTask(rule, task) && !answered.get(rule)?.has(task.id))
      const fresh = fitting.find((rule) => !answered.has(rule))
      return fresh ?? (task.kind === 'reply' ? undefined : fitting[0])
    },
    recordUse(rule, { id }) {
      answered.set(rule, (answered.get(rule) ?? new Set()).add(id))
    },
  }
}

function matchesTask(rule: DecisionRule, task: WaitingTask): boolean {
  if (rule.task === undefined ? task.kind === 'reply' && rule.text === undefined : rule.task !== task.kind) return false
  if (rule.tool !== undefined && rule.tool !== (task.tool?.ref ?? task.question?.tool)) return false
  if (rule.when === undefined) return true
  const { condition } = readCondition(rule.when)
  return condition !== undefined && evaluateCondition(condition, factsOf(task)).truth === 'true'
}

/** The message that the rule sends. @throws Failure `usage` for an option that is not offered */
export function answerOf(rule: DecisionRule, task: WaitingTask): JsonObject {
  if (task.kind === 'reply') return { text: rule.text ?? '' }
  const approved = verdictOf(rule)
  const reason = rule.reason ?? (typeof rule.reject === 'string' ? rule.reject : undefined)
  const isOutcome = task.kind === 'anomaly_review' && rule.text !== undefined
  return toAnswerBody(task, {
    ...(approved !== undefined && { approved }),
    ...(rule.text !== undefined && (isOutcome ? { metadata: { 'svc/result': rule.text } } : { textValue: rule.text })),
    ...(rule.number !== undefined && { numberValue: rule.number }),
    ...(rule.option !== undefined && { selectedOptionId: optionOf(rule.option, task) }),
    ...(reason !== undefined && { comment: reason }),
    ...(rule.edit && { arguments: rule.edit }),
    // Writing the rule counts as reading the arguments.
    ...(approved === true && { acknowledged: true }),
  })
}

const optionOf = (option: string | number, { options = [] }: WaitingTask): string =>
  readOption(options, String(option)).id

const verdictOf = ({ approve, reject, decide, edit }: DecisionRule): boolean | undefined => {
  if (decide !== undefined) return decide === 'approve'
  if (reject !== undefined && reject !== false) return false
  return approve ?? (edit === undefined ? undefined : true)
}

/** Milliseconds from the question to the answer. */
export const delayOf = ({ after }: DecisionRule): number => (after === undefined ? 0 : (parseDuration(after) ?? 0))

/** Checks beyond the schema: a rule answers something, and its condition can be read. */
export function ruleFindings(file: DocumentSpans, rules: readonly DecisionRule[], pointer: string): Diagnostic[] {
  const shown = pointer
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  return rules.flatMap((rule, at) => {
    const rulePointer = `${pointer}/${at}`
    if (
      verdictOf(rule) === undefined &&
      rule.text === undefined &&
      rule.number === undefined &&
      rule.option === undefined
    )
      return [
        createFinding('doc/schema', 'error', file.placeOf(rulePointer), `${shown}[${at}] answers nothing.`, {
          fix: 'Say approve, reject, edit, text, number or option.',
        }),
      ]
    const problem = rule.when === undefined ? undefined : readCondition(rule.when).problems[0]
    return problem
      ? [createFinding('doc/schema', 'error', file.placeOf(`${rulePointer}/when${problem.pointer}`), problem.message)]
      : []
  })
}

/** Facts of the call; all others are those of an operator's first call, and no history is known. */
const factsOf = ({ arguments: args = null, tool }: WaitingTask): CallFacts => ({
  ...firstCallFacts(
    {
      args,
      tool: { id: tool?.ref ?? '', version: '', wire_name: '', kind: 'tool', labels: {} },
      agent: { id: '', version: '', classifications: [], labels: {} },
      now: 0,
    },
    { 'principal.type': 'operator' },
  ),
  history: () => undefined,
})
