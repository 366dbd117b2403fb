import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Writes which tests passed at a second try, and then `N passed, N failed`, to the file that SVC_TEST_SUMMARY names, for `.ci/run`. */
export class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env['SVC_TEST_SUMMARY']
    if (file) writeFileSync(file, `${summarize(modules, errors).join('\n')}\n`)
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
  return [...tests.flatMap(describeRetry), skipped > 0 ? `${line}, ${skipped} skipped` : line]
}

/** @returns a line, with the first sentence of each failure before, for a test that passed and not at once */
function describeRetry(test: TestCase): readonly string[] {
  const { retryCount = 0, flaky = false } = test.diagnostic() ?? {}
  if (!flaky) return []
  const failures = (test.result().errors ?? []).map(({ message }) => message.split('\n', 1)[0])
  const place = relative(process.cwd(), test.module.moduleId)
  return [`Passed at try ${retryCount + 1}: ${place} > ${test.fullName} (${failures.join('; ')})`]
}
