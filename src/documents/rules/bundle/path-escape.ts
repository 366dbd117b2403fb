import { pathsIn } from '../../facts/path-refs.ts'
import { checkPath } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const bundlePathEscape: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A path is relative, stays inside the bundle, and uses `/`.',
  fix: 'Write a relative path inside the bundle.',
  source: 'Authoring format: bundle-relative paths',
  check(document, report) {
    for (const path of pathsIn(document)) {
      const checked = checkPath(path.value)
      // `bundle/root-missing` reports an absolute root.
      if ('path' in checked || (path.pointer === '/spec/root' && path.value.startsWith('/'))) continue
      report(path, `"${path.value}" is not a path in the bundle: ${checked.problem}.`, {
        fix: 'Write a relative path in the directory of the bundle.',
      })
    }
  },
}
