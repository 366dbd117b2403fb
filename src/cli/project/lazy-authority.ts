/** Reads the authority of compiled versions. Loads the compiler on the first use. */
import { finishInTurns } from '../../base/event-loop.ts'
import type { AuthorityReader } from '../../server/runtime/authority-reader.ts'

export const lazyAuthority: AuthorityReader = {
  async matrix(snapshot) {
    const { authorityMatrix } = await import('../../compile/view/matrix.ts')
    return authorityMatrix(snapshot)
  },
  async difference(from, to, load, loadTo = load) {
    const [{ compareClosures }, { loadClosure }] = await Promise.all([
      import('../../compile/diff/diff.ts'),
      import('../../compile/diff/closure.ts'),
    ])
    const [before, after] = await Promise.all([loadClosure(from, load), loadClosure(to, loadTo)])
    return await finishInTurns(compareClosures(before, after))
  },
  async looserCalls(from, to, load) {
    const [{ compareClosures }, { loadClosure }, { looserCalls }] = await Promise.all([
      import('../../compile/diff/diff.ts'),
      import('../../compile/diff/closure.ts'),
      import('../../compile/diff/looser-calls.ts'),
    ])
    const [before, after] = await Promise.all([loadClosure(from, load), loadClosure(to, load)])
    const { changes } = await finishInTurns(compareClosures(before, after))
    return looserCalls(before, after, changes)
  },
}
