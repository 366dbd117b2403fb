import { directoryOf, foldPath, pathsUnder } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const caseCollision: LintRule = {
  name: 'bundle/case-collision',
  severity: 'error',
  law: 'Two paths of a bundle differ by more than case: elsewhere they would be one file.',
  fix: 'Rename one of the two.',
  source: 'Bundles, section 2',
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
