import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Writes `N passed, N failed` to the file that SVC_TEST_SUMMARY names, for `.ci/run`. */
export class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env['SVC_TEST_SUMMARY']
    if (!file) return
    const states = modules.flatMap((each) => [...each.children.allTests()].map((test) => test.result().state))
    const count = (state: string) => states.filter((each) => each === state).length
    const broken = modules.filter(
      (each) =>
        each.state() === 'failed' && ![...each.children.allTests()].some((test) => test.result().state === 'failed'),
    )
    const skipped = count('skipped')
    const line = `${count('passed')} passed, ${count('failed') + broken.length + errors.length} failed`
    writeFileSync(file, `${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  }
}
