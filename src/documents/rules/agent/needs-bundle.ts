import type { LintRule } from '../../facts/rule.ts'

export const agentNeedsBundle: LintRule = {
  severity: 'error',
  law: 'An Agent with sub-agents belongs to a Bundle.',
  fix: 'Add a Bundle document whose root is this agent.',
  source: 'Authoring format, "Agent document": `agents` must be published via a Bundle',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    if (document.at('spec.agents.*').length === 0) return
    if (workspace.bundleOf(document) !== undefined) return
    report(
      '/spec/agents',
      'An Agent with sub-agents needs a Bundle: there is no Bundle document in its directory or above.',
      { fix: 'Add a Bundle document whose `spec.root` names the root Agent.' },
    )
  },
}
