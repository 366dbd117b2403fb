import { leavesIn } from '../../facts/policies/conditions.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const agentClassificationUnused: LintRule = {
  severity: 'info',
  law: 'If the policies of a bundle read some classifications of an agent, they read all of them.',
  fix: 'Read the classification in a policy, or remove it.',
  reason: 'A classification that no policy reads looks like protection and is none.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const own = document.texts('metadata.governance.classifications.*')
    if (own.length === 0) return
    const read = new Set(workspace.publishedTogether(document).flatMap(classificationsRead))
    if (!own.some(({ value }) => read.has(value))) return
    for (const each of own)
      if (!read.has(each.value)) report(each, `No policy reads the classification "${each.value}".`)
  },
}

/** The classifications that the conditions of a policy compare. */
const classificationsRead = (policy: Document): readonly unknown[] =>
  leavesIn(policy)
    .filter(({ leaf }) => leaf.path.text.startsWith('agent.classifications'))
    .flatMap(({ leaf }) => (Array.isArray(leaf.value) ? leaf.value : [leaf.value]))
