import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isSlowTest } from './slow.ts'

/** Slow tests come last: they are what a run leaves out that has no time left (`test/time-left.ts`). */
export class SlowTestsLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => isSlowTest(relative(process.cwd(), moduleId))
    return [...sorted.filter((each) => !isSlow(each)), ...sorted.filter(isSlow)]
  }
}
