/** Evaluates an agent over a dataset, and compares it with an earlier version. Source: docs/design/evals.md#how-data-flows */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileFailure } from '../../../base/files/file-error.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { drawTable } from '../../../terminal/table.ts'
import { createTheme } from '../../../terminal/theme.ts'
import { readDataset } from '../../eval/dataset.ts'
import { evaluateCase, inParallel, type EvaluatedCase, type EvaluationParts } from '../../eval/evaluate.ts'
import { createCostLimit } from '../../eval/cost-limit.ts'
import type { EvalCase } from '../../eval/eval-case.ts'
import { compileJudge, JUDGE } from '../../eval/judge-agent.ts'
import { createJudge, type Judge } from '../../eval/judge.ts'
import { evalComment } from '../../eval/eval-comment.ts'
import {
  basisLines,
  brokenLine,
  changedLine,
  interruptedLine,
  notPassedLines,
  sideColumns,
  testCasesOf,
  toEvalAnswer,
  type EvalReport,
} from '../../eval/report.ts'
import { mainAgentOf, toKeptReport } from '../../eval/kept-report.ts'
import { describeSamples, mergeSamples } from '../../eval/samples.ts'
import { openSideBefore, workspaceSide } from '../../eval/sides.ts'
import { exitOfEval, GATES, summarize, type EvalGate } from '../../eval/summary.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import { reportTestsAsJunit } from '../../reports/test-report.ts'
import { openProject, type Project } from '../../project/project.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { playScenario } from '../../../scenario/play.ts'
import { prepareBundle } from '../../release/prepare-scenario.ts'
import type { CommandContext } from '../../shell/command.ts'
import { durationMs, readTypedNumber, wholeNumber } from '../../shell/numbers.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type { evalAnswer } from '../../answers/eval.ts'

/** Runs at work at once: they mostly wait for models. */
const DEFAULT_JOBS = 4
const DEFAULT_TIMEOUT_MS = 300_000
const MOST_REPEATS = 100
/** Runs of one evaluation, of both versions. */
const MOST_RUNS = 100_000

export async function evaluate(call: CommandContext<ValueOf<typeof evalAnswer>>): Promise<number> {
  const { given, cwd, io, out, mode } = call
  const named = given.required(0)
  const path = resolve(cwd, named)
  const jobs = wholeNumber(given.text('jobs'), 'jobs', 1) ?? DEFAULT_JOBS
  const timeoutMs = durationMs(given.text('case-timeout'), 'case-timeout') ?? DEFAULT_TIMEOUT_MS
  const gate = readGate(call)
  const repeat = wholeNumber(given.text('repeat'), 'repeat', 1) ?? 1
  if (repeat > MOST_REPEATS) throw usageFailure(`--repeat takes at most ${MOST_REPEATS}, not ${repeat}.`)
  const junit = await writableReport(given.text('junit'), cwd)
  const costs = createCostLimit(given.text('max-cost'), '--max-cost', 'the evaluation')
  const isComment = given.text('format') === 'markdown'
  const project = await openProject(call, path)
  const { cases: read, broken } = await readDataset(path, named, project.directory)
  const [agent, against] = [given.text('agent'), given.text('against')]
  const cases = agent === undefined ? read : read.map((each) => ({ agent, ...each }))
  const runs = cases.length * repeat * (against === undefined ? 1 : 2)
  if (runs > MOST_RUNS)
    throw usageFailure(`These are ${runs} runs; one evaluation takes ${MOST_RUNS}.`, 'Split the dataset.')
  for (const each of broken) out.message(`broken: ${brokenLine(named, each)}`)
  const before =
    against === undefined ? undefined : await orInterrupted(openSideBefore(call, project, path, against), call.signal)
  try {
    const isJudged = cases.some(({ rubrics }) => rubrics.size > 0)
    const judgeModel = isJudged ? project.config.evals?.judge : undefined
    const judge = judgeModel && (await openJudge(call, project, judgeModel))
    const parts: EvaluationParts = {
      now: workspaceSide(call, path),
      ...(before && { before: before.side }),
      ...(judge && { judge }),
      costs,
      env: io.env,
      timeoutMs,
      signal: call.signal,
    }
    const done: EvaluatedCase[] = []
    try {
      for await (const each of playAll(cases, parts, { repeat, jobs })) {
        done.push(each)
        if (!mode.json && !isComment) printCase(call, named, each)
      }
    } catch (error) {
      // What was played has been paid for: it is told below.
      if (!call.signal.aborted || done.length === 0) throw error
    }
    const names = { now: parts.now.name, ...(before && { before: before.side.name }) }
    const report: EvalReport = {
      dataset: named,
      cases: done,
      broken,
      repeat,
      unplayed: cases.length - done.length,
      summary: summarize(done, names),
      ...(judge && { judge }),
      ...(judgeModel && { judgeModel }),
    }
    const code = exitOfEval(report.summary, broken, gate)
    // Printed first: a report that cannot be written or kept takes nothing else with it.
    if (mode.json) await out.json(toEvalAnswer(report, report.unplayed > 0 ? 130 : code))
    else if (isComment) out.line(evalComment(report))
    else printSummary(call, report)
    if (junit !== undefined) await writeUserFile(junit, `${reportTestsAsJunit(testCasesOf(report), 'svc eval')}\n`)
    if (report.unplayed > 0) throw call.signal.reason
    if (given.flag('keep')) await orInterrupted(keep(call, project, report), call.signal)
    return code
  } finally {
    before?.close()
  }
}

/** Yields each case once all its samples are played, in the order of the cases. */
async function* playAll(
  cases: readonly EvalCase[],
  parts: EvaluationParts,
  { repeat, jobs }: { readonly repeat: number; readonly jobs: number },
): AsyncGenerator<EvaluatedCase> {
  const runs = cases.flatMap((each) => Array.from({ length: repeat }, () => each))
  let samples: EvaluatedCase[] = []
  for await (const sample of inParallel(runs, jobs, (each) => evaluateCase(each, parts))) {
    samples.push(sample)
    if (samples.length < repeat) continue
    yield mergeSamples(samples)
    samples = []
  }
}

/** The absolute path of a report, found out before models are asked. @throws Failure `file_missing`, `file_unusable` */
async function writableReport(written: string | undefined, cwd: string): Promise<string | undefined> {
  if (written === undefined) return undefined
  const path = resolve(cwd, written)
  try {
    await access(dirname(path), constants.W_OK)
  } catch (error) {
    throw fileFailure(error, { path: dirname(path), doing: 'written to' }) ?? error
  }
  return path
}

function readGate({ given }: CommandContext): { readonly gates: readonly EvalGate[]; readonly atLeast: number } {
  const chosen = given.list('fail-on')
  const gates = GATES.filter((gate) => chosen.includes(gate))
  const unknown = chosen.find((each) => !GATES.some((gate) => gate === each))
  if (unknown !== undefined) throw usageFailure(`--fail-on takes ${GATES.join(', ')}, not "${unknown}".`)
  const compared = gates.find((gate) => gate === 'worse' || gate === 'decisions')
  if (compared !== undefined && given.text('against') === undefined)
    throw usageFailure(`--fail-on ${compared} compares with another version: name it with --against.`)
  const written = given.text('at-least')
  const atLeast = written === undefined ? 100 : readTypedNumber(written.replace(/%$/, ''))
  if (atLeast === undefined || atLeast < 0 || atLeast > 100)
    throw usageFailure(`--at-least takes a percentage from 0 to 100, not "${written}".`)
  return { gates: gates.length > 0 ? gates : ['failed'], atLeast }
}

/** Ends a wait for a server with the signal: the command is not ended from outside, since it tells what it has played. */
async function orInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const waiting = new AbortController()
  const interrupted = new Promise<never>((_, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason as Error), { signal: waiting.signal })
  })
  try {
    return await Promise.race([work, interrupted])
  } finally {
    waiting.abort()
  }
}

/** The model of `evals.judge`, asked through the engine, as an agent is. */
async function openJudge(
  { io, signal }: Pick<CommandContext, 'io' | 'signal'>,
  project: Project,
  config: NonNullable<EvalReport['judgeModel']>,
): Promise<Judge> {
  const bundle = await compileJudge(config)
  const { script: model } = config
  return createJudge({
    config,
    signal,
    async ask(text, limit) {
      const scenario = { scenario: 'a judgement', agent: JUDGE, input: { text }, ...(model !== undefined && { model }) }
      const prepared = await prepareBundle(scenario, bundle, { project, isEvaluation: true })
      return await playScenario(scenario, { ...prepared, env: io.env, signal: limit, isEvaluation: true })
    },
  })
}

/** Leaves the result on the server of the project. */
async function keep(call: Pick<CommandContext, 'io'>, project: Project, report: EvalReport): Promise<void> {
  const agent = mainAgentOf(report.cases)
  if (agent === undefined) throw usageFailure('No agent of a case could be played, so there is nothing to keep.')
  const body = { agent, report: toKeptReport(report) }
  await withOperatorOf(project, call, (operator) => operator.call('POST /evals', { body }))
}

const MARKS = { passed: '✔', failed: '✖', undecided: '?' } as const

function printCase({ out, mode }: CommandContext, dataset: string, { case: { line, name }, now }: EvaluatedCase): void {
  const theme = createTheme(mode.color.stdout)
  const styles = { passed: theme.ok, failed: theme.bad, undecided: theme.waiting }
  const count = now.samples ? `  ${describeSamples(now)}` : ''
  out.line(`${dataset}:${line}  ${styles[now.outcome](MARKS[now.outcome])} ${safeText(name)}${count}`)
  for (const text of notPassedLines(now)) out.line(`    ${safeText(text)}`)
}

function printSummary(call: CommandContext, report: EvalReport): void {
  const { out } = call
  const { now, before, changed } = report.summary
  changed.forEach((each) => out.line(changedLine(each)))
  const sides = before ? [before, now] : [now]
  drawTable(answerScreen(call), sideColumns(report.repeat), sides).forEach(out.line)
  basisLines(report).forEach(out.line)
  const interrupted = interruptedLine(report)
  if (interrupted !== undefined) out.message(interrupted)
  const { length } = report.broken
  if (length > 0) out.message(`${length} broken ${length === 1 ? 'line was' : 'lines were'} left out`)
}
