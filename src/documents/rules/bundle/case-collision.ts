import { directoryOf, foldPath, pathsUnder } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const bundleCaseCollision: LintRule = {
  severity: 'error',
  law: 'Paths of a bundle differ by more than case: on some file systems they would be the same file.',
  fix: 'Rename one of the two.',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const first = new Map<string, string>()
    for (const path of pathsUnder(workspace.files.paths, directoryOf(document.path))) {
      const folded = foldPath(path)
      const before = first.get(folded)
      if (before === undefined) first.set(folded, path)
      else report('/kind', `"${before}" and "${path}" differ by case only.`, { fix: 'Rename one of them.' })
    }
  },
}
