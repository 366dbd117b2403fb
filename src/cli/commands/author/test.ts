/** Runs scenario tests with tool doubles and scripted answers, in memory and in virtual time. Source: docs/design/command-line.md#tests */
import { relative, resolve } from 'node:path'
import { isFailure } from '../../../base/failure.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { formatDuration } from '../../../terminal/time.ts'
import { createTheme } from '../../../terminal/theme.ts'
import { wrapText } from '../../../terminal/text.ts'
import { drawTimeline } from '../../../terminal/timeline.ts'
import { widthOf } from '../../../terminal/width.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { openProject } from '../../project/project.ts'
import { findTestFiles } from '../../../documents/workspace/test-file.ts'
import { findMismatches, type ExpectationMismatch } from '../../../scenario/expect.ts'
import { observeRun } from '../../../scenario/observe.ts'
import { playScenario, type PlayedScenario } from '../../../scenario/play.ts'
import { createPreparation, type PrepareScenario } from '../../release/prepare-scenario.ts'
import { readScenarios, type Scenario } from '../../../scenario/scenario.ts'
import { rewriteExpectations, updateOf, type ExpectationUpdate } from '../../../scenario/update.ts'
import { failureLines, reportTestsAsJunit, reportTap, type TestCase } from '../../reports/test-report.ts'
import { createTestFilter, type TestFilter } from '../../reports/test-filter.ts'
import { repeatOnSave } from '../../project/repeat-on-save.ts'
import { readUserFile } from '../../files/read-file.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { testAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

interface ScenarioResult extends TestCase {
  readonly scenario?: Scenario
  readonly played?: PlayedScenario
  readonly differences: readonly ExpectationMismatch[]
  /** Expectations that match the run. */
  readonly update?: ExpectationUpdate
}

export async function test(call: CommandContext<ValueOf<typeof testAnswer>>): Promise<number> {
  const { given, cwd } = call
  const project = await openProject(call)
  const paths = given.rest(0).map((path) => resolve(cwd, path))
  const wanted = paths.length > 0 ? paths : [project.directory]
  if (given.flag('record') && given.flag('update'))
    throw usageFailure('A recording is made first and its scenario updated then: give --record or --update.')
  if (!given.flag('watch')) return await testOnce(call, wanted)
  await repeatOnSave(call, project.directory, () => testOnce(call, wanted))
  return 0
}

async function testOnce(call: CommandContext<ValueOf<typeof testAnswer>>, paths: readonly string[]): Promise<number> {
  const { given, io } = call
  const filter = createTestFilter(given.text('filter'))
  const files = await findTestFiles('scenario', paths)
  const directory = given.text('replay')
  const prepare = createPreparation(call, {
    record: given.flag('record'),
    ...(directory !== undefined && { directory: resolve(call.cwd, directory) }),
  })
  const since = io.clock.monotonic()
  const results: ScenarioResult[] = []
  const format = call.mode.json ? 'json' : (given.text('format') ?? 'text')
  for (const file of files) {
    const text = (await readUserFile(file)).toString('utf8')
    const updates: (ExpectationUpdate | undefined)[] = []
    for (const { index, run } of testsOf(call, prepare, file, text, filter)) {
      const done = given.flag('update') ? acceptUpdate(await run()) : await run()
      updates[index] = done.update
      results.push(done)
      if (format === 'text') printResult(call, done)
      if (!done.ok && given.flag('bail')) return await finish(call, format, results, since)
    }
    if (given.flag('update') && updates.some(Boolean)) await writeUserFile(file, rewriteExpectations(text, updates))
  }
  if (results.length === 0) filter.requireMatch()
  return await finish(call, format, results, since)
}

/** The file now expects the actual results, so only a run without an update still fails. */
const acceptUpdate = (result: ScenarioResult): ScenarioResult =>
  result.update ? { ...result, ok: true, failure: [] } : result

/** The tests of a file, not yet run. An invalid file is one failing test. */
function testsOf(
  call: CommandContext,
  prepare: PrepareScenario,
  path: string,
  text: string,
  filter: TestFilter,
): { readonly index: number; readonly run: () => Promise<ScenarioResult> }[] {
  const file = relative(call.cwd, path).replaceAll('\\', '/')
  const { tests: scenarios, findings } = readScenarios(text, file)
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    const failure = errors.flatMap(({ range, rule, message, fix }) => [
      `${file}:${range.start.line}:${range.start.column} ${message} (${rule})`,
      ...(fix ? [`  fix:  ${fix.description}`] : []),
    ])
    return [{ index: 0, run: async () => ({ file, name: file, ok: false, failure, ms: 0, differences: [] }) }]
  }
  return scenarios
    .map((scenario, index) => ({ scenario, index }))
    .filter(({ scenario }) => filter.chooses(file, scenario.scenario))
    .map(({ scenario, index }) => ({ index, run: () => testOne(call, prepare, { path, file, index }, scenario) }))
}

async function testOne(
  { io, signal, ...call }: CommandContext,
  prepare: PrepareScenario,
  { path, file, index }: { readonly path: string; readonly file: string; readonly index: number },
  scenario: Scenario,
): Promise<ScenarioResult> {
  const since = io.clock.monotonic()
  const result = (
    failure: readonly string[],
    played?: PlayedScenario,
    differences: readonly ExpectationMismatch[] = [],
  ): ScenarioResult => ({
    file,
    name: scenario.scenario,
    ok: failure.length === 0,
    failure,
    ms: Math.round(io.clock.monotonic() - since),
    scenario,
    ...(played && { played }),
    differences,
  })
  try {
    const prepared = await prepare(scenario, path, index)
    const played = await playScenario(scenario, { ...prepared, env: io.env, signal })
    const agents = [prepared.bundle, ...prepared.lateBound].flatMap((bundle) => bundle.agents)
    const { expect = {} } = scenario
    const differences = findMismatches(expect, played, agents)
    const failure = failureOf({ ...call, io }, played, differences)
    const update = failure.length > 0 && updateOf(expect, differences, observeRun(played, agents))
    return { ...result(failure, played, differences), ...(update && { update }) }
  } catch (error) {
    if (!isFailure(error)) throw error
    const details = (error.extras.details ?? []).map((each) => `  ${each.path} ${each.message}`)
    return result([error.message, ...details, ...(error.fix ? [`  fix:  ${error.fix}`] : [])])
  }
}

/** The differences, the undecided tasks, which are the usual reason, and the conversation. */
function failureOf(
  call: Pick<CommandContext, 'io' | 'mode'>,
  played: PlayedScenario,
  differences: readonly ExpectationMismatch[],
): string[] {
  if (differences.length === 0) return []
  const { run, conversation, undecided, problem } = played
  return [
    ...differences.flatMap(({ what, expected, actual }) =>
      what === 'run'
        ? [`${what}: ${typeof actual === 'string' ? actual : formatJson(actual)}`]
        : [`${what}: expected ${formatJson(expected)}`, `${' '.repeat(what.length)}       got ${formatJson(actual)}`],
    ),
    ...undecided.filter((name) => !problem?.includes(name)).map((name) => `undecided: ${name}`),
    ...(run?.error === undefined ? [] : [`error: ${run.error}`]),
    ...(conversation
      ? drawTimeline(
          answerScreen({ ...call, mode: { ...call.mode, color: PLAIN } }),
          conversation.items,
          conversation.runs,
        )
      : []),
  ]
}

const PLAIN = { stdout: 0, stderr: 0 } as const

const formatJson = (value: unknown): string => JSON.stringify(value)

function printResult({ out, io, mode }: CommandContext, { file, name, ok, failure, played }: ScenarioResult): void {
  const theme = createTheme(mode.color.stdout)
  const waited =
    played && played.virtualMs >= 1000 ? `  ${theme.dim(`${formatDuration(played.virtualMs)} (virtual)`)}` : ''
  const mark = ok ? theme.ok('✔') : theme.bad('✖')
  if (!io.stdout.isTTY) {
    out.line(`${file}  ${mark} ${safeText(name)}${waited}`)
    for (const line of failure) out.line(`    ${safeText(line)}`)
    return
  }
  const { width } = answerScreen({ io, mode })
  const beside = `${file.padEnd(FILE_WIDTH)}  `
  // Where both do not fit, the name has a line of its own, broken between words.
  if (widthOf(beside) + 2 + widthOf(name) + widthOf(waited) <= width)
    out.line(`${beside}${mark} ${safeText(name)}${waited}`)
  else {
    wrapText(file, width).forEach(out.line)
    const [first = '', ...rest] = wrapText(`${safeText(name)}${waited}`, width - 4)
    out.line(`  ${mark} ${first}`)
    for (const line of rest) out.line(`    ${line.trimStart()}`)
  }
  for (const line of failure) for (const part of wrapText(safeText(line), width - 4)) out.line(`    ${part}`)
}

/** Columns for the names of files, beside which the names of scenarios stand. */
const FILE_WIDTH = 38

async function finish(
  call: CommandContext<ValueOf<typeof testAnswer>>,
  format: string,
  results: readonly ScenarioResult[],
  since: number,
): Promise<number> {
  const { out, io } = call
  const failed = results.filter(({ ok }) => !ok).length
  const passed = results.length - failed
  const ms = io.clock.monotonic() - since
  if (format === 'json') await out.json(toJson(results, passed, failed))
  else if (format === 'junit') out.line(reportTestsAsJunit(results, 'svc test'))
  else if (format === 'tap') out.line(reportTap(results))
  if (format === 'junit' || format === 'tap') failureLines(results).forEach(out.message)
  const tokens = results.reduce((sum, { played }) => sum + (played?.run?.totalTokensUsed ?? 0), 0)
  if (format === 'text')
    out.message(
      `${passed} passed${failed > 0 ? `, ${failed} failed` : ''} in ${formatDuration(ms)}, ${call.given.flag('record') ? 'recorded' : '0 network calls'}, ${tokens} scripted tokens`,
    )
  return failed > 0 ? 1 : 0
}

const toJson = (results: readonly ScenarioResult[], passed: number, failed: number): ValueOf<typeof testAnswer> => ({
  ok: failed === 0,
  passed,
  failed,
  cases: results.map(({ file, name, ok, failure, ms, scenario, played, differences }) => ({
    name,
    file,
    ok,
    expected: scenario?.expect ?? {},
    actual: played?.run
      ? { status: played.run.status, output: played.run.output, error: played.run.error ?? null }
      : null,
    trace: failure,
    differences,
    undecided: played?.undecided ?? [],
    events: played?.events ?? [],
    virtualMs: played?.virtualMs ?? 0,
    ms,
  })),
  runs: results.flatMap(({ file, played }) =>
    played?.run
      ? [
          {
            file,
            runId: played.run.runId,
            sessionId: played.run.sessionId,
            status: played.run.status,
            totalTokensUsed: played.run.totalTokensUsed,
          },
        ]
      : [],
  ),
})
