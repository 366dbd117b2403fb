import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/**
 * Names at the end what was skipped, since this machine lacks something for it. Writes that, which tests failed or passed at a second
 * try, and `N passed, N failed` to the file that SVC_TEST_SUMMARY names, for `.ci/run`.
 */
export class Summary implements Reporter {
  #isFiltered = false

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env['SVC_TEST_SUMMARY']
    if (file) writeFileSync(file, `${summarize(modules, errors).join('\n')}\n`)
    // With `-t` everything else is skipped on purpose.
    else if (!this.#isFiltered) for (const line of modules.flatMap(describeSkipped)) process.stdout.write(`${line}\n`)
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
  const skipped = count('skipped')
  const line = `${count('passed')} passed, ${count('failed') + broken.length + errors.length} failed`
  return [
    ...modules.flatMap(describeSkipped),
    ...tests.flatMap(describeRetry),
    ...tests.flatMap(describeFailure),
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

function describeTest(test: TestCase): string {
  const failures = (test.result().errors ?? []).map(({ message }) => message.split('\n', 1)[0])
  return `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName} (${failures.join('; ')})`
}
