/** Runs table tests of policies: calls with the decision expected for each. Source: docs/design/policies.md#replay */
import { relative, resolve } from 'node:path'
import { isFailure } from '../../../base/failure.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { formatDuration } from '../../../terminal/time.ts'
import { createTheme } from '../../../terminal/theme.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import type { LeafPlaces } from '../../policy/places.ts'
import { readPolicyTests, type PolicyCase, type PolicyTest } from '../../policy/case-file.ts'
import { createCoverageCollector, type CoverageCollector, type PolicySetCoverage } from '../../policy/coverage.ts'
import { rewriteCases } from '../../policy/rewrite.ts'
import {
  createCasePreparer,
  decideCase,
  type CasePreparer,
  type DecidedCase,
  type PreparedCase,
} from '../../policy/run-cases.ts'
import { decisionJson } from '../../policy/print-decision.ts'
import { openProject } from '../../project/project.ts'
import { findTestFiles } from '../../../documents/workspace/test-file.ts'
import { repeatOnSave } from '../../project/repeat-on-save.ts'
import { failureLines, reportTestsAsJunit, reportTap, type TestCase } from '../../reports/test-report.ts'
import { createTestFilter, type TestFilter } from '../../reports/test-filter.ts'
import { readUserFile } from '../../files/read-file.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { policyTestAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { textAfterLast } from '../../../base/text/text-parts.ts'

interface PolicyCaseResult extends TestCase {
  /** Absent for a file that could not be read. */
  readonly given?: PolicyCase
  readonly decided?: DecidedCase
  readonly places?: LeafPlaces
}

export async function policyTest(call: CommandContext<ValueOf<typeof policyTestAnswer>>): Promise<number> {
  const { given, cwd } = call
  const project = await openProject(call)
  const paths = given.rest(0).map((path) => resolve(cwd, path))
  const wanted = paths.length > 0 ? paths : [project.directory]
  const minimum = wholeNumber(given.text('coverage'), 'coverage')
  if (!given.flag('watch')) return await testOnce(call, wanted, minimum)
  await repeatOnSave(call, project.directory, () => testOnce(call, wanted, minimum))
  return 0
}

async function testOnce(
  call: CommandContext<ValueOf<typeof policyTestAnswer>>,
  paths: readonly string[],
  minimum: number | undefined,
): Promise<number> {
  const { given, io, mode, out } = call
  const since = io.clock.monotonic()
  const filter = createTestFilter(given.text('filter'))
  const run: TestRun = { preparer: createCasePreparer(call), collector: createCoverageCollector(), filter }
  const format = mode.json ? 'json' : (given.text('format') ?? 'text')
  const results: PolicyCaseResult[] = []
  for (const path of await findTestFiles('policytest', paths)) {
    const found = await testFile(call, run, path)
    results.push(...found)
    if (format === 'text') printResults(call, found)
  }
  if (results.length === 0) filter.requireMatch()
  const coverage = run.collector.result()
  const failed = results.filter(({ ok }) => !ok).length
  const isShort = minimum !== undefined && coverage.percent < minimum
  if (format === 'json') await out.json(jsonOf(results, coverage, failed, isShort))
  else if (format === 'junit') out.line(reportTestsAsJunit(results, 'svc policy test'))
  else if (format === 'tap') out.line(reportTap(results))
  if (format === 'junit' || format === 'tap') failureLines(results).forEach(out.message)
  if (format === 'text')
    out.message(
      summaryLine(
        results.length - failed,
        failed,
        io.clock.monotonic() - since,
        minimum === undefined ? undefined : coverage,
      ),
    )
  if (isShort) out.message(`coverage is ${coverage.percent}%, below ${minimum}%`)
  return failed > 0 || isShort ? 1 : 0
}

/** What the files of one command share. */
interface TestRun {
  readonly preparer: CasePreparer
  readonly collector: CoverageCollector
  readonly filter: TestFilter
}

async function testFile(call: CommandContext, run: TestRun, path: string): Promise<readonly PolicyCaseResult[]> {
  const file = relative(call.cwd, path).replaceAll('\\', '/')
  const text = (await readUserFile(path)).toString('utf8')
  const { tests, findings } = readPolicyTests(text, file)
  const wrong = findings
    .filter(({ severity }) => severity === 'error')
    .map(({ range: { start }, message, rule }) => `${file}:${start.line}:${start.column} ${message} (${rule})`)
  if (wrong.length > 0) return [failedFile(file, wrong)]
  const tested: TestedCalls[] = []
  for (const test of tests) tested.push(await testCalls(call, run, test, path, file))
  const results = tested.flatMap((each) => each.results)
  if (!call.given.flag('update')) return results
  const updated = rewriteCases(
    text,
    tested.map(({ decided }) => decided.map(actualOf)),
  )
  if (updated !== text) await writeUserFile(path, updated)
  // The file now expects the actual decisions, so only calls without a decision still fail.
  return results.map((result) => (result.decided?.explanation ? { ...result, ok: true, failure: [] } : result))
}

interface TestedCalls {
  readonly results: readonly PolicyCaseResult[]
  /** Of every call, also of those that the filter leaves out; empty where the test cannot be prepared. */
  readonly decided: readonly DecidedCase[]
}

/** Decides the calls of one test. */
async function testCalls(
  { io }: CommandContext,
  { preparer, collector, filter }: TestRun,
  test: PolicyTest,
  path: string,
  file: string,
): Promise<TestedCalls> {
  let prepared: PreparedCase
  try {
    prepared = await preparer.of(test, path)
  } catch (error) {
    if (!isFailure(error)) throw error
    const details = (error.extras.details ?? []).map((each) => `${each.path} ${each.message}`)
    return { results: [failedFile(file, [error.message, ...details])], decided: [] }
  }
  const { subject, places } = prepared
  collector.addSet(subject.policies, places)
  const results: PolicyCaseResult[] = []
  const decided = test.calls.map((given) => {
    const since = io.clock.monotonic()
    const answer = decideCase(prepared, given, collector, io.clock.now())
    const ms = Math.round(io.clock.monotonic() - since)
    const name = given.name ?? `${given.tool} ${JSON.stringify(given.args ?? {})}`
    const { failure } = answer
    if (filter.chooses(file, name))
      results.push({ file, name, ok: failure.length === 0, failure, ms, given, decided: answer, places })
    return answer
  })
  return { results, decided }
}

const failedFile = (file: string, failure: readonly string[]): PolicyCaseResult => ({
  file,
  name: file,
  ok: false,
  failure,
  ms: 0,
})

const actualOf = ({ explanation, by }: DecidedCase) =>
  explanation && by !== undefined
    ? {
        decision: explanation.decision.decision,
        by,
        approvals: explanation.decision.obligations?.approvals_required ?? 0,
      }
    : undefined

function printResults({ out, mode }: CommandContext, results: readonly PolicyCaseResult[]): void {
  const theme = createTheme(mode.color.stdout)
  const passed = results.filter(({ ok }) => ok).length
  const file = results[0]?.file
  if (file !== undefined && passed > 0) out.line(`${safeText(file)}   ${theme.ok(`${passed} passed`)}`)
  for (const { file, name, failure } of results.filter(({ ok }) => !ok)) {
    const short = textAfterLast(file, '/').replace(/\.policytest\.ya?ml$/, '')
    out.line(`${theme.bad('FAIL')} ${safeText(name === file ? file : `${short} › ${name}`)}`)
    failure.forEach((line) => out.line(`  ${safeText(line)}`))
  }
}

function summaryLine(passed: number, failed: number, ms: number, coverage: PolicySetCoverage | undefined): string {
  const counts = `${passed} passed${failed > 0 ? `, ${failed} failed` : ''} (${formatDuration(ms)})`
  if (!coverage) return counts
  const missing = coverage.policies.flatMap(({ id, leaves }) =>
    leaves.flatMap(({ node, missing: truths }) => (truths.length > 0 ? `${id} ${node} ${truths.join('/')}` : [])),
  )
  return `${counts} · coverage ${coverage.percent}%${missing.length > 0 ? ` (uncovered: ${missing.join(', ')})` : ''}`
}

const jsonOf = (
  results: readonly PolicyCaseResult[],
  coverage: PolicySetCoverage,
  failed: number,
  isShort: boolean,
): ValueOf<typeof policyTestAnswer> => ({
  ok: failed === 0 && !isShort,
  passed: results.length - failed,
  failed,
  coverage,
  cases: results.map(({ file, name, ok, failure, given, decided, places }) => ({
    name,
    file,
    ok,
    expected: given ? expectationOf(given) : null,
    actual: decided?.explanation
      ? {
          decision: decided.explanation.decision.decision,
          by: decided.by,
          approvals: decided.explanation.decision.obligations?.approvals_required ?? null,
        }
      : null,
    trace: decided?.explanation && places ? decisionJson(decided.explanation, places).trace : [],
    failure,
  })),
})

const expectationOf = ({ expect, by, approvals }: PolicyCase): object => ({
  decision: expect,
  ...(by !== undefined && { by }),
  ...(approvals !== undefined && { approvals }),
})
