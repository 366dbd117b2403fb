/** What people are made to answer, written down beforehand: `decide` of a scenario, and the file of `svc run --decide`. */
import { parseDuration } from '../../base/duration.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { createFinding, type Diagnostic } from '../../documents/text/diagnostic.ts'
import type { DocumentSpans } from '../../documents/text/document.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import type { CallFacts } from '../../policy/condition/decision.ts'
import { evaluateConditions } from '../../policy/condition/evaluate.ts'
import { readOption } from '../shell/options.ts'

export interface DecisionRule {
  /** Kind of task, or `reply`. */
  readonly task?: string
  /** Logical id of the held tool. */
  readonly tool?: string
  /** Condition on the held call, as in a policy. */
  readonly when?: JsonObject
  /** From the question to the answer; at once when absent. */
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

/** What waits for a person, as rules see it. */
export interface WaitingTask {
  /** Of the task; of a reply, of the question it answers. */
  readonly id: string
  /** Kind of task, or `reply`. */
  readonly kind: string
  readonly tool?: string
  readonly args?: JsonValue
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  /** Digest of `args`: which arguments the answer is about. */
  readonly argsDigest?: string
}

export interface ScriptedAnswers {
  /**
   * The rule that answers: the first that fits and has answered nothing yet, else the first that fits. None answers one
   * task twice, so that two approvals need two rules; a rule for replies says its text once.
   */
  choose(asked: WaitingTask): DecisionRule | undefined
  /** Notes that the rule has answered. */
  use(rule: DecisionRule, asked: WaitingTask): void
}

export function createRulebook(rules: readonly DecisionRule[]): ScriptedAnswers {
  const answered = new Map<DecisionRule, Set<string>>()
  return {
    choose(asked) {
      const fitting = rules.filter((rule) => fits(rule, asked) && !answered.get(rule)?.has(asked.id))
      const fresh = fitting.find((rule) => !answered.has(rule))
      return fresh ?? (asked.kind === 'reply' ? undefined : fitting[0])
    },
    use(rule, { id }) {
      answered.set(rule, (answered.get(rule) ?? new Set()).add(id))
    },
  }
}

function fits(rule: DecisionRule, asked: WaitingTask): boolean {
  if (rule.task === undefined ? asked.kind === 'reply' && rule.text === undefined : rule.task !== asked.kind)
    return false
  if (rule.tool !== undefined && rule.tool !== asked.tool) return false
  if (rule.when === undefined) return true
  const { condition } = readCondition(rule.when)
  return condition !== undefined && evaluateConditions(condition, factsOf(asked)).truth === 'true'
}

/** The message that the rule sends, without the ids. @throws Failure `usage` for an option that is not offered */
export function answerOf(rule: DecisionRule, asked: WaitingTask): JsonObject {
  if (asked.kind === 'reply') return { text: rule.text ?? '' }
  const approved = verdictOf(rule)
  const reason = rule.reason ?? (typeof rule.reject === 'string' ? rule.reject : undefined)
  const isOutcome = asked.kind === 'anomaly_review' && rule.text !== undefined
  const metadata = {
    ...(reason !== undefined && { 'svc/comment': reason }),
    ...(rule.edit && { 'svc/arguments': rule.edit }),
    // Who wrote the rule has read what it approves.
    ...(approved === true && { 'svc/acknowledged': true }),
    ...(isOutcome && { 'svc/result': rule.text }),
    ...(asked.argsDigest !== undefined && { 'svc/arguments_digest': asked.argsDigest }),
  }
  return {
    ...(approved !== undefined && { approved }),
    ...(rule.text !== undefined && !isOutcome && { textValue: rule.text }),
    ...(rule.number !== undefined && { numberValue: rule.number }),
    ...(rule.option !== undefined && { selectedOptionId: optionOf(rule.option, asked) }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  } as JsonObject
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

/** What the shape of a rule cannot say: that it answers something, with a condition that can be read. */
export function ruleFindings(file: DocumentSpans, rules: readonly DecisionRule[], pointer: string): Diagnostic[] {
  return rules.flatMap((rule, at) => {
    const here = `${pointer}/${at}`
    if (
      verdictOf(rule) === undefined &&
      rule.text === undefined &&
      rule.number === undefined &&
      rule.option === undefined
    )
      return [
        createFinding('doc/schema', 'error', file.placeOf(here), `${pointer.slice(1)}[${at}] answers nothing.`, {
          fix: 'Say approve, reject, edit, text, number or option.',
        }),
      ]
    const problem = rule.when === undefined ? undefined : readCondition(rule.when).problems[0]
    return problem
      ? [createFinding('doc/schema', 'error', file.placeOf(`${here}/when${problem.pointer}`), problem.message)]
      : []
  })
}

/** Only the call is known here: what a condition asks of the run or of the past is unknown, which fits nothing. */
function factsOf({ args = null, tool = '' }: WaitingTask): CallFacts {
  return {
    args,
    tool: { id: tool, version: '', wire_name: '', kind: 'tool', labels: {} },
    agent: { id: '', version: '', classifications: [], labels: {} },
    run: {
      depth: 0,
      is_subagent: false,
      iteration: 1,
      elapsed_seconds: 0,
      tokens_used: 0,
      trigger_type: 'api',
      taint: false,
    },
    session: { run_count: 1, tokens_used: 0, elapsed_seconds: 0 },
    principal: { type: 'operator', id: '' },
    svc: { dispatch: { trigger: 'none' }, limit: 'none' },
    now: 0,
    history: () => undefined,
  }
}
