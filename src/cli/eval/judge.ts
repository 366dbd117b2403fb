/**
 * Has outputs judged by a model, with votes and a control. What is not answered as it must be is not judged, and never passed.
 * Source: docs/design/evals.md#the-judge
 */
import { parseDuration } from '../../base/duration.ts'
import { digestOf, digestOfJson } from '../../base/digest.ts'
import { cutText } from '../../base/text/cut-text.ts'
import { isFailure } from '../../base/failure.ts'
import { canonicalJson, isJsonObject } from '../../base/json/json.ts'
import type { JudgeConfig } from '../../spec/project/config.ts'
import { NO_COST, type CostSum } from '../../spec/price.ts'
import { withDeadline } from '../../tools/outcome.ts'
import type { PlayedScenario } from '../../scenario/play.ts'
import { RemoteError } from '../../client/remote-error.ts'
import { createCostLimit } from './cost-limit.ts'
import type { Rubric } from './eval-case.ts'
import type { CheckOutcome } from './fact-checks.ts'
import { judgeMessage, wordOf, type JudgeAnswer, type JudgedMaterial } from './judge-agent.ts'

export interface Judgement {
  /** `undecided` = not judged. */
  readonly outcome: CheckOutcome
  readonly message: string
}

/** What a judge did in one evaluation. */
export interface JudgeWork {
  readonly calls: number
  readonly cost: CostSum
}

export interface Judge {
  /** Judges each output once: what was judged before is not asked again. */
  judge(rubric: Rubric, material: JudgedMaterial, votes?: number): Promise<Judgement>
  work(): JudgeWork
}

export interface JudgeParts {
  readonly config: JudgeConfig
  /** Asks the model once; the message is all that it sees. */
  readonly ask: (message: string, signal: AbortSignal) => Promise<PlayedScenario>
  readonly signal: AbortSignal
}

const DEFAULT_VOTES = 3
const DEFAULT_TIMEOUT = '60s'
const DEFAULT_MAX_CALLS = 1000
/** Answers in a row that did not come, after which the judge counts as away and is not asked any more. */
const AWAY_AFTER = 3
/** Characters of input and output together: what is longer is a matter of checks on facts. */
const MOST_OF_MATERIAL = 200_000
/** Characters of a reason that are kept. */
const MOST_OF_REASON = 300

/** @throws Failure `usage` for a bound that is no amount */
export function createJudge({ config, ask, signal }: JudgeParts): Judge {
  const { votes: usualVotes = DEFAULT_VOTES, max_calls: maxCalls = DEFAULT_MAX_CALLS } = config
  const timeoutMs = parseDuration(config.timeout ?? DEFAULT_TIMEOUT) ?? 60_000
  const limit = createCostLimit(config.max_cost, 'evals.judge.max_cost', 'the judge')
  const known = new Map<string, Promise<Judgement>>()
  let [calls, missed] = [0, 0]

  /** Why the judge may not be asked again. */
  const stopOf = (): string | undefined => {
    if (missed >= AWAY_AFTER) return `the judge is away: ${missed} answers in a row did not come`
    if (calls >= maxCalls)
      return `the judge was asked ${calls} times, the most of this evaluation (evals.judge.max_calls)`
    return limit.stop()
  }

  const askOnce = async (rubric: string, material: JudgedMaterial, turn: number): Promise<JudgeAnswer | string> => {
    const stop = stopOf()
    if (stop !== undefined) return stop
    calls++
    const answer = await answerWithin((limit) => ask(judgeMessage(rubric, material, turn), limit), timeoutMs, signal)
    if (typeof answer === 'string') {
      missed++
      return answer
    }
    limit.add(answer.run?.cost ?? NO_COST)
    const read = readAnswer(answer)
    missed = typeof read === 'string' && answer.run?.errorCode !== 'output_invalid' ? missed + 1 : 0
    return read
  }

  const judgeOnce = async (rubric: Rubric, material: JudgedMaterial, votes: number): Promise<Judgement> => {
    const answers: (JudgeAnswer | string)[] = []
    for (let turn = 0; turn < votes; turn++) {
      answers.push(await askOnce(rubric.text, material, turn))
      if (isDecided(answers, votes)) break
    }
    const counted = countVotes(answers, votes)
    if (counted.outcome === 'undecided') return counted
    const control = controlOf(counted.outcome, material)
    const controlled = await askOnce(control.rubric, material, votes)
    if (typeof controlled === 'string') return notJudged(`its control was not answered: ${controlled}`)
    return controlled.verdict === control.right
      ? counted
      : notJudged(
          'the judge answered a control wrongly, as one does that obeys the text or says the same of everything',
        )
  }

  return {
    judge(rubric, material, votes = usualVotes) {
      const { length } = canonicalJson(material)
      if (length > MOST_OF_MATERIAL)
        return Promise.resolve(notJudged(`input and output have ${length} characters, more than ${MOST_OF_MATERIAL}`))
      const key = digestOfJson({ rubric: rubric.digest, material, votes })
      const judgement = known.get(key) ?? judgeOnce(rubric, material, votes)
      known.set(key, judgement)
      return judgement
    },
    work: () => ({ calls, cost: limit.spent() }),
  }
}

/** The played run, or why no answer came. */
async function answerWithin(
  ask: (limit: AbortSignal) => Promise<PlayedScenario>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PlayedScenario | string> {
  const limit = withDeadline(timeoutMs, signal)
  try {
    return await ask(limit.signal)
  } catch (error) {
    signal.throwIfAborted()
    if (limit.timedOut()) return `no answer within ${timeoutMs / 1000} s`
    if (isFailure(error) || error instanceof RemoteError) return error.message
    throw error
  } finally {
    limit.release()
  }
}

/** The answer of a run that ended with one; else why there is none. */
function readAnswer({ run, problem }: PlayedScenario): JudgeAnswer | string {
  if (run?.status !== 'Completed') return run?.error ?? problem ?? 'the judge gave no answer'
  const { verdict, reason } = isJsonObject(run.output) ? run.output : {}
  if ((verdict !== 'meets' && verdict !== 'fails') || typeof reason !== 'string') return 'the answer is no verdict'
  return { verdict, reason: cutText(reason, MOST_OF_REASON).text }
}

const notJudged = (why: string): Judgement => ({ outcome: 'undecided', message: `not judged: ${why}` })

const votesFor = (
  answers: readonly (JudgeAnswer | string)[],
  verdict: JudgeAnswer['verdict'],
): readonly JudgeAnswer[] =>
  answers.flatMap((each) => (typeof each !== 'string' && each.verdict === verdict ? [each] : []))

/** True when the votes that are left cannot change the outcome. */
const isDecided = (answers: readonly (JudgeAnswer | string)[], votes: number): boolean =>
  votesFor(answers, 'meets').length > votes / 2 || votesFor(answers, 'fails').length > votes / 2

/** More than half of all votes decide; one that was not given counts for neither. */
function countVotes(answers: readonly (JudgeAnswer | string)[], votes: number): Judgement {
  const [met, missed] = [votesFor(answers, 'meets'), votesFor(answers, 'fails')]
  const winner = met.length > votes / 2 ? met : missed
  if (winner.length > votes / 2)
    return {
      outcome: winner === met ? 'passed' : 'failed',
      message: `${winner.length} of ${votes} votes: ${winner[0]?.reason ?? ''}`,
    }
  const silent = answers.find((each) => typeof each === 'string')
  return notJudged(silent ?? `the votes are ${met.length} to ${missed.length}`)
}

/**
 * A question about the same material whose right answer is the opposite of the verdict: a judge that does what the material says, or
 * says the same of everything, gets it wrong.
 */
function controlOf(
  outcome: CheckOutcome,
  material: JudgedMaterial,
): { readonly rubric: string; readonly right: JudgeAnswer['verdict'] } {
  const word = wordOf(digestOf(`control\n${digestOfJson(material)}`))
  return outcome === 'passed'
    ? { rubric: `The output contains the word "${word}".`, right: 'fails' }
    : { rubric: `The output does not contain the word "${word}".`, right: 'meets' }
}
