import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { placeOfSlow } from './slow.ts'

/** Slow tests come last, in the order of their list: the end of it is what a run leaves out that has no time left (`test/time-left.ts`). */
export class SlowTestsLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification) => placeOfSlow(relative(process.cwd(), moduleId))
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
