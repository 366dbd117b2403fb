/** Reads what compiled versions may do, with the compiler, which is loaded when somebody asks. */
import type { AuthorityReader } from '../../server/runtime/authority-reader.ts'

export const lazyAuthority: AuthorityReader = {
  async matrix(snapshot) {
    const { authorityMatrix } = await import('../../compile/view/matrix.ts')
    return authorityMatrix(snapshot)
  },
  async difference(from, to, load, loadTo = load) {
    const [{ diffClosures }, { loadClosure }] = await Promise.all([
      import('../../compile/diff/diff.ts'),
      import('../../compile/diff/closure.ts'),
    ])
    const [before, after] = await Promise.all([loadClosure(from, load), loadClosure(to, loadTo)])
    return diffClosures(before, after)
  },
}
