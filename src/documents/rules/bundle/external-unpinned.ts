import { rsort } from 'semver'
import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const bundleExternalUnpinned: LintRule = {
  severity: 'error',
  essential: true,
  law: 'An agent outside the bundle is referenced with its exact version.',
  fix: 'Add the version: `namespace.name@1.4.2`, or `late_bound: true`.',
  source: 'Authoring format, "Versioning", 3: external sub-agent refs are pinned',
  kinds: ['Agent'],
  check(document, report, { workspace, published }) {
    for (const { pointer, value } of subAgentsOf(document)) {
      const ref = readAgentRef(textMember(value, 'ref') ?? '')
      if (ref.form !== 'floating' || value['late_bound'] === true) continue
      const [latest] = rsort([...published.versions('Agent', ref.id)])
      // `subagent/ref-form` reports agents of the project, which are referenced by path.
      if (latest === undefined && workspace.find(document, 'Agent', ref.id).length > 0) continue
      const known = latest === undefined ? 'is not in this project' : 'is published'
      report(`${pointer}/ref`, `${ref.id} ${known}, and the reference names no version.`, {
        fix:
          latest === undefined
            ? `Write ${ref.id}@ and its version, or add \`late_bound: true\`.`
            : proposeScalarFix(document.placeOf(`${pointer}/ref`), `${ref.id}@${latest}`),
      })
    }
  },
}
