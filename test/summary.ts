import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/**
 * Names at the end what was skipped, since this machine lacks something for it. Writes that, which tests failed or passed at a second
 * try, and `N passed, N failed` to the file that SVC_TEST_SUMMARY names, for `.ci/run`; at SVC_TEST_END, in seconds since 1970, with
 * each file that has not ended as a failure. Whoever sets that ends the run soon after.
 */
export class Summary implements Reporter {
  #isFiltered = false

  onInit({ config, state }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined
    const end = process.env['SVC_TEST_END']
    if (end !== undefined)
      setTimeout(() => this.#write(summarize(state.getTestModules(), [])), Number(end) * 1000 - Date.now()).unref()
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    if (process.env['SVC_TEST_SUMMARY']) this.#write(summarize(modules, errors))
    // With `-t` everything else is skipped on purpose.
    else if (!this.#isFiltered) for (const line of modules.flatMap(describeSkipped)) process.stdout.write(`${line}\n`)
  }

  #write(lines: readonly string[]): void {
    const file = process.env['SVC_TEST_SUMMARY']
    if (file) writeFileSync(file, `${lines.join('\n')}\n`)
  }
}

/** Lines that CI prints at its end. */
export function summarize(modules: readonly TestModule[], errors: readonly unknown[]): readonly string[] {
  const tests = modules.flatMap((each) => [...each.children.allTests()])
  const count = (state: string) => tests.filter((each) => each.result().state === state).length
  const broken = modules.filter(
    (each) =>
      each.state() === 'failed' && ![...each.children.allTests()].some((test) => test.result().state === 'failed'),
  )
  const unfinished = modules.filter((each) => ['queued', 'pending'].includes(each.state()))
  const skipped = count('skipped')
  const line = `${count('passed')} passed, ${count('failed') + broken.length + unfinished.length + errors.length} failed`
  return [
    ...modules.flatMap(describeSkipped),
    ...tests.flatMap(describeRetry),
    ...tests.flatMap(describeFailure),
    ...unfinished.map(describeUnfinished),
    skipped > 0 ? `${line}, ${skipped} skipped` : line,
  ]
}

/** @returns a line for a file with skipped tests: why, where all say the same, else which */
function describeSkipped(module: TestModule): readonly string[] {
  const skipped = [...module.children.allTests('skipped')]
  if (skipped.length === 0) return []
  const reasons = new Set(skipped.map((each) => (each.result() as { readonly note?: string }).note))
  const names = new Set(skipped.map(({ parent, name }) => (parent.type === 'suite' ? parent.fullName : name)))
  const [reason] = reasons
  const subject = reasons.size === 1 && reason !== undefined ? reason : [...names].join('; ')
  return [`Skipped in ${relative(process.cwd(), module.moduleId)}: ${subject} (${skipped.length})`]
}

/** @returns a line, with the first sentence of each failure before, for a test that passed and not at once */
function describeRetry(test: TestCase): readonly string[] {
  const { retryCount = 0, flaky = false } = test.diagnostic() ?? {}
  return flaky ? [`Passed at try ${retryCount + 1}: ${describeTest(test)}`] : []
}

/** @returns a line for a test that failed: the end of a long log is what people read */
const describeFailure = (test: TestCase): readonly string[] =>
  test.result().state === 'failed' ? [`Failed: ${describeTest(test)}`] : []

/** @returns a line for a file that has not ended, with its first test that has not */
function describeUnfinished(module: TestModule): string {
  const [test] = module.children.allTests('pending')
  return `Not ended: ${relative(process.cwd(), module.moduleId)}${test ? ` > ${test.fullName}` : ''}`
}

function describeTest(test: TestCase): string {
  const failures = (test.result().errors ?? []).map(({ message }) => message.split('\n', 1)[0])
  return `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName} (${failures.join('; ')})`
}
