import { reportMissingAgent } from '../../facts/missing.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const bundleRootMissing: LintRule = {
  severity: 'error',
  essential: true,
  law: '`root` of a Bundle is the path of an Agent document in the bundle.',
  fix: 'Name the file of the root Agent.',
  source: 'Authoring format, "Bundle document": `root`',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    for (const root of document.texts('spec.root')) {
      if (root.value.startsWith('/')) {
        report(root, `"${root.value}" is absolute; a root is a path in the bundle.`, {
          fix: proposeScalarFix(root, root.value.replace(/^\/+/, '')),
        })
        continue
      }
      reportMissingAgent(report, workspace, root, workspace.resolve(document, root.value))
    }
  },
}
