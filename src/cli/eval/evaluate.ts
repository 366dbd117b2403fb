/** Plays the cases of a dataset with one version or two, and checks each run. Source: docs/design/evals.md#how-data-flows */
import { isFailure } from '../../base/failure.ts'
import { cutText } from '../../base/text/cut-text.ts'
import type { DecisionFlip } from '../../spec/explanation.ts'
import { backtest } from '../../policy/replay/backtest.ts'
import type { RecordedDecision } from '../../operations/decisions.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { withDeadline } from '../../tools/outcome.ts'
import { RemoteError } from '../../client/remote-error.ts'
import { playScenario } from '../../scenario/play.ts'
import type { PreparedScenario } from '../release/prepare-scenario.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { CostLimit } from './cost-limit.ts'
import type { EvalCase } from './eval-case.ts'
import { checkFacts, type CheckOutcome, type CheckResult } from './fact-checks.ts'
import type { Judge } from './judge.ts'
import { readRunFacts, type RunFacts } from './run-facts.ts'

/** A version that is evaluated. */
export interface EvalSide {
  /** As people name it: `workspace`, `HEAD~1`, `acme.desk@1.0.0`. */
  readonly name: string
  /** @throws Failure if the agent of the case cannot be played */
  readonly prepare: (scenario: Scenario) => Promise<PreparedScenario>
}

/** Of one run, or of a case that is played several times. */
export interface CaseResult {
  readonly outcome: CheckOutcome
  readonly checks: readonly CheckResult[]
  /** Absent where no run was started. */
  readonly run?: Pick<RunFacts, 'status' | 'output' | 'tokens' | 'cost' | 'seconds'>
  readonly ms: number
  /** Each run, where the case was played several times. */
  readonly samples?: readonly CaseResult[]
}

/** A case with its result now and, in a comparison, before. */
export interface EvaluatedCase {
  readonly case: EvalCase
  /** `namespace.name` of the agent that it started; absent where none could be played. */
  readonly agent?: string
  readonly now: CaseResult
  readonly before?: CaseResult
  /** Decisions of the run before that the policies of now would make otherwise: exact, no model is asked. */
  readonly flips: readonly DecisionFlip[]
  /** Decisions of the run before. */
  readonly decisions: number
  /** History measures for which these decisions had to be counted again. */
  readonly assumed: readonly string[]
}

export interface EvaluationParts {
  readonly now: EvalSide
  readonly before?: EvalSide
  readonly judge?: Judge
  /** Of what the models of the runs cost. */
  readonly costs?: CostLimit
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of one run, on the clock of the wall. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Plays it once with each version. */
export async function evaluateCase(evalCase: EvalCase, parts: EvaluationParts): Promise<EvaluatedCase> {
  const before = parts.before && (await playCase(evalCase, parts.before, parts))
  const now = await playCase(evalCase, parts.now, parts)
  const { flips, assumed } =
    before && now.agents.length > 0 ? await decideAgain(before, now.agents) : { flips: [], assumed: [] }
  return {
    case: evalCase,
    ...(now.agent !== undefined && { agent: now.agent }),
    now: now.result,
    ...(before && { before: before.result }),
    flips,
    decisions: before?.decisions.length ?? 0,
    assumed,
  }
}

interface PlayedCase {
  readonly result: CaseResult
  readonly decisions: readonly RecordedDecision[]
  /** Deployed agents; none where they could not be prepared. */
  readonly agents: readonly AgentSnapshot[]
  readonly agent?: string
}

async function playCase(evalCase: EvalCase, side: EvalSide, parts: EvaluationParts): Promise<PlayedCase> {
  const startedAt = performance.now()
  const stop = parts.costs?.stop()
  const finish = (
    checks: readonly CheckResult[],
    { run, decisions = [], agents = [] }: Partial<Omit<PlayedCase, 'result'>> & { readonly run?: RunFacts } = {},
  ): PlayedCase => ({
    result: {
      outcome: outcomeOf(checks),
      checks,
      ...(run && {
        run: { status: run.status, output: run.output, tokens: run.tokens, cost: run.cost, seconds: run.seconds },
      }),
      ms: Math.round(performance.now() - startedAt),
    },
    decisions,
    agents,
    ...(agent !== undefined && { agent }),
  })
  let agent: string | undefined
  const limit = withDeadline(parts.timeoutMs, parts.signal)
  let agents: readonly AgentSnapshot[] = []
  try {
    if (stop !== undefined) return finish([undecidedRun(`not played: ${stop}`)])
    const scenario = toScenario(evalCase)
    const prepared = await side.prepare(scenario)
    agent = prepared.agent
    agents = [prepared.bundle, ...prepared.lateBound].flatMap((bundle) => bundle.agents)
    const played = await playScenario(scenario, {
      ...prepared,
      env: parts.env,
      signal: limit.signal,
      isEvaluation: true,
    })
    const run = readRunFacts(played, agents)
    if (!run) return finish([undecidedRun(played.problem ?? 'no run was started')], { agents })
    parts.costs?.add(run.cost)
    const { decisions = [], unscripted = [] } = played.evaluated ?? {}
    const found = { run, decisions, agents }
    if (played.problem !== undefined)
      return finish([{ check: 'run', isJudged: false, outcome: 'failed', message: played.problem }], found)
    if (MODEL_IS_AWAY.has(run.errorCode ?? ''))
      return finish([undecidedRun(run.error ?? 'the model gave no answer')], found)
    const checks = [...(await checkFacts(evalCase, run)), ...(await judgeRun(evalCase, run, parts.judge))]
    const left = unscripted.map(({ tool, arguments: args }) =>
      undecidedRun(
        `${tool} ${cutText(JSON.stringify(args), 200).text} has no double or recorded answer: it was not carried out`,
      ),
    )
    return finish([...checks, ...left.slice(0, 1)], found)
  } catch (error) {
    parts.signal.throwIfAborted()
    if (limit.timedOut()) return finish([undecidedRun(`it did not end within ${parts.timeoutMs / 1000} s`)], { agents })
    // Documents that do not compile are no matter of one case.
    if (isFailure(error, 'documents_have_errors') || isFailure(error, 'no_documents')) throw error
    if (!isFailure(error) && !(error instanceof RemoteError)) throw error
    return finish([undecidedRun(error.message)], { agents })
  } finally {
    limit.release()
  }
}

/** Errors of runs that say nothing of the agent: its model did not answer, or svc failed. */
const MODEL_IS_AWAY: ReadonlySet<string> = new Set(['model_error', 'outage', 'state_not_saved', 'internal'])

const undecidedRun = (message: string): CheckResult => ({
  check: 'run',
  isJudged: false,
  outcome: 'undecided',
  message,
})

const toScenario = ({ name, agent, input, model, tools, decide }: EvalCase): Scenario => ({
  scenario: name,
  input,
  ...(agent !== undefined && { agent }),
  ...(model !== undefined && { model }),
  ...(tools && { tools }),
  ...(decide && { decide }),
})

async function judgeRun(
  { checks, rubrics, input }: EvalCase,
  { output, status }: RunFacts,
  judge: Judge | undefined,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = []
  for (const check of checks) {
    const rubric = rubrics.get(check)
    if (!rubric) continue
    const notJudged = (why: string) => ({ outcome: 'undecided' as const, message: `not judged: ${why}` })
    const ask = () =>
      judge?.judge(rubric, { input, output }, check.judge?.votes) ?? notJudged('svc.config.yaml has no evals.judge')
    const judgement = status === 'Completed' ? await ask() : notJudged('there is no output')
    results.push({ check: 'judge', isJudged: true, rubric: rubric.digest, ...judgement })
  }
  return results
}

/** Failed if any check failed; passed only if every one passed. */
function outcomeOf(checks: readonly CheckResult[]): CheckOutcome {
  if (checks.some(({ outcome }) => outcome === 'failed')) return 'failed'
  return checks.every(({ outcome }) => outcome === 'passed') ? 'passed' : 'undecided'
}

/** Decides what was decided before again, by the policies of now: those of the agent of the same name, and its side-effect classes. */
async function decideAgain(
  before: PlayedCase,
  now: readonly AgentSnapshot[],
): Promise<Pick<EvaluatedCase, 'flips' | 'assumed'>> {
  const agentNow = (id: string): AgentSnapshot | undefined => now.find((each) => each.id === id)
  const { flips, assumed } = await backtest(
    before.decisions,
    (agent) => {
      const found = before.agents.find(({ id }) => id === agent)
      return found ? Promise.resolve(found) : Promise.reject(new Error(`${agent} made a decision and is not deployed.`))
    },
    {
      policiesOf: (snapshot) => (agentNow(snapshot.id) ?? snapshot).policies,
      classOf: ({ agent, tool }) => agentNow(agent)?.tools.find(({ wire }) => wire === tool)?.sideEffectClass,
    },
  )
  return { flips: flips.map(({ flip }) => flip), assumed }
}

/**
 * Does the work for each item, some at a time, and yields the results in the order of the items.
 * @param most items at work at once
 */
export async function* inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  const startNext = (): void => {
    const item = items[started.length]
    if (item === undefined) return
    const result = work(item)
    // Awaited in order below: a failure of a later item is not unhandled meanwhile.
    result.catch(() => undefined)
    started.push(result)
    result.then(startNext, () => undefined)
  }
  for (let count = 0; count < most; count++) startNext()
  for (let at = 0; at < items.length; at++) yield await (started[at] as Promise<R>)
}
