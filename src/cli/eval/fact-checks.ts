/** Checks on facts: what a run did, compared with what a case demands. Source: docs/design/evals.md#facts */
import { cutText } from '../../base/text/cut-text.ts'
import type { Digest } from '../../base/digest.ts'
import { toScaled } from '../../base/json/decimal.ts'
import { canonicalJson, containsJson, type JsonValue } from '../../base/json/json.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import { didYouMean, nearestId } from '../../documents/text/suggest.ts'
import { evaluateCondition } from '../../policy/condition/evaluate.ts'
import { describeCost, describeMoney, readMoney, type CostSum } from '../../spec/price.ts'
import { checkForeignValue } from '../../tools/check/check.ts'
import { nameOfCheck, type CheckName, type EvalCase, type EvalCheck } from './eval-case.ts'
import type { CallOfRun, RunFacts } from './run-facts.ts'

/** `undecided` is neither: it never counts as passed. */
export type CheckOutcome = 'passed' | 'failed' | 'undecided'

export interface CheckResult {
  /** `run`: that it ended. `expected`: the output of the case. */
  readonly check: CheckName | 'run' | 'expected'
  /** True for what a model judged, false for a fact. */
  readonly isJudged: boolean
  readonly outcome: CheckOutcome
  /** By which it was judged. */
  readonly rubric?: Digest
  /** Why it did not pass; of a judgement, also why it did. */
  readonly message?: string
}

/** Results of all checks on facts, those of every case first. */
export async function checkFacts({ checks, ...written }: EvalCase, run: RunFacts): Promise<readonly CheckResult[]> {
  const results = [checks.some(({ status }) => status !== undefined) ? [] : [checkCompletion(run)]].flat()
  if (written.expected !== undefined) results.push(checkExpected(written.expected, run.output))
  for (const check of checks) {
    const name = nameOfCheck(check)
    if (name !== 'judge') results.push({ check: name, isJudged: false, ...(await factCheckOf(check, run)) })
  }
  return results
}

type Verdict = Pick<CheckResult, 'outcome' | 'message'>

const PASSED: Verdict = { outcome: 'passed' }
const failed = (message: string): Verdict => ({ outcome: 'failed', message })
const passedIf = (isMet: boolean, message: () => string): Verdict => (isMet ? PASSED : failed(message()))

const checkCompletion = ({ status, error }: RunFacts): CheckResult => ({
  check: 'run',
  isJudged: false,
  ...passedIf(status === 'Completed', () => `it ends ${status}${error === undefined ? '' : `: ${error}`}`),
})

const checkExpected = (expected: JsonValue, output: JsonValue): CheckResult => ({
  check: 'expected',
  isJudged: false,
  ...passedIf(
    canonicalJson(expected) === canonicalJson(output),
    () => `the output is ${shown(output)}, not ${shown(expected)}`,
  ),
})

async function factCheckOf(check: EvalCheck, run: RunFacts): Promise<Verdict> {
  if (check.status !== undefined)
    return passedIf(check.status === run.status, () => `the status is ${run.status}, not ${check.status}`)
  if (check.output_contains !== undefined) return checkPart(check.output_contains, run.output)
  if (check.output_schema !== undefined) {
    const [wrong] = await checkForeignValue(check.output_schema, run.output)
    return wrong ? failed(`${wrong.path || 'the output'} ${wrong.message}`) : PASSED
  }
  if (check.max_tokens !== undefined)
    return passedIf(run.tokens <= check.max_tokens, () => `${run.tokens} tokens, more than ${check.max_tokens}`)
  if (check.max_seconds !== undefined)
    return passedIf(
      run.seconds <= check.max_seconds,
      () => `${run.seconds.toFixed(1)} s, more than ${check.max_seconds} s`,
    )
  if (check.max_cost !== undefined) return checkCost(check.max_cost, run.cost)
  return checkCalls(check, run)
}

function checkPart(part: JsonValue, output: JsonValue): Verdict {
  const isPart =
    typeof part === 'string' && typeof output === 'string' ? output.includes(part) : containsJson(output, part)
  return passedIf(isPart, () => `the output is ${shown(output)}, without ${shown(part)}`)
}

function checkCost(limit: string, cost: CostSum): Verdict {
  const most = readMoney(limit)
  if (!most) return failed(`${limit} is no amount`)
  const others = Object.keys(cost.amounts).filter((currency) => currency !== most.currency)
  const spent = cost.amounts[most.currency] ?? '0'
  if (toScaled(spent) > toScaled(most.amount)) return failed(`${describeCost(cost)}, more than ${describeMoney(most)}`)
  // What has no known price in this currency may cost anything.
  return cost.unpriced > 0 || others.length > 0
    ? { outcome: 'undecided', message: `the cost in ${most.currency} is not known: ${describeCost(cost)}` }
    : PASSED
}

function checkCalls(check: EvalCheck, { calls, callable }: RunFacts): Verdict {
  const { only_calls: only, calls_in_order: order } = check
  if (only) {
    const other = calls.find(({ tool }) => !only.includes(tool))
    return other ? failed(`it calls ${describeCall(other)}`) : PASSED
  }
  if (order) {
    let next = 0
    for (const { tool } of calls) if (tool === order[next]) next++
    return passedIf(
      next === order.length,
      () =>
        `${order[next]} is not called in its place; the calls are ${calls.map(({ tool }) => tool).join(', ') || 'none'}`,
    )
  }
  const tool = check.calls ?? check.never_calls ?? check.never_calls_without_approval ?? ''
  const isOfNoCall = check.calls === undefined || check.times === 0
  const near = isOfNoCall && !callable.includes(tool) ? nearestId(tool, callable) : undefined
  // What is misspelt is never called: the check would pass without looking.
  if (near !== undefined) return { outcome: 'undecided', message: `no agent here can call ${tool}.${didYouMean(near)}` }
  const chosen = calls.filter((call) => call.tool === tool).map((call) => ({ call, truth: truthOf(check.where, call) }))
  const sure = chosen.filter(({ truth }) => truth === 'true')
  const unknown = chosen.filter(({ truth }) => truth === 'unknown')
  const unsure = ({ call }: (typeof chosen)[number]): Verdict => ({
    outcome: 'undecided',
    message: `whether \`where\` is true of ${describeCall(call)} is not known`,
  })
  if (check.calls !== undefined) {
    const { times } = check
    const isMet = times === undefined ? sure.length > 0 : sure.length === times
    const verdict = passedIf(
      isMet,
      () => `${countCalls(sure.length)} of ${tool}, ${times === undefined ? 'not one' : `not ${times}`}`,
    )
    // Another call that counts would change whether the number is met, unless there is one already and that is enough.
    return unknown[0] && (times !== undefined || !isMet) ? unsure(unknown[0]) : verdict
  }
  const isWrong = ({ isApproved }: CallOfRun): boolean => check.never_calls !== undefined || !isApproved
  const wrong = sure.find(({ call }) => isWrong(call))
  if (wrong)
    return failed(
      `it calls ${describeCall(wrong.call)}${check.never_calls === undefined ? ' without an approval' : ''}`,
    )
  const doubtful = unknown.find(({ call }) => isWrong(call))
  return doubtful ? unsure(doubtful) : PASSED
}

const countCalls = (count: number): string => (count === 1 ? '1 such call' : `${count} such calls`)

function truthOf(where: EvalCheck['where'], { facts }: CallOfRun): 'true' | 'false' | 'unknown' {
  if (where === undefined) return 'true'
  const { condition } = readCondition(where)
  return condition && facts ? evaluateCondition(condition, facts).truth : 'unknown'
}

const describeCall = ({ tool, arguments: args }: CallOfRun): string => `${tool} ${shown(args)}`

/** Characters of a value in a message. */
const MOST_SHOWN = 200

const shown = (value: JsonValue): string => {
  const { text, cut } = cutText(JSON.stringify(value), MOST_SHOWN)
  return cut ? `${text}…` : text
}
