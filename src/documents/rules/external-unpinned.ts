import { rsort } from 'semver'
import { subAgentsOf, textAt } from '../bindings.ts'
import { readAgentRef } from '../reference.ts'
import type { Rule } from '../rule.ts'

export const externalUnpinned: Rule = {
  name: 'bundle/external-unpinned',
  severity: 'error',
  law: 'A published agent is named with its exact version.',
  fix: 'Add the version: `namespace.name@1.4.2`, or `late_bound: true`.',
  source: 'Authoring format, "Versioning", 3: external sub-agent refs are pinned',
  bad: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\nspec:\n  agents: [{ref: ops.published, description: Tells.}]\n',
  },
  good: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\nspec:\n  agents: [{ref: ops.published@1.4.2, description: Tells.}]\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { published }) {
    for (const { pointer, value } of subAgentsOf(document)) {
      const ref = readAgentRef(textAt(value, 'ref') ?? '')
      if (ref.form !== 'floating' || value['late_bound'] === true) continue
      // What was never published is a reference of a wrong form: `subagent/ref-form`.
      const [latest] = rsort([...published.versions('Agent', ref.id)])
      if (latest !== undefined)
        report(`${pointer}/ref`, `${ref.id} is published, but no version is chosen.`, {
          fix: `Write ${ref.id}@${latest}.`,
        })
    }
  },
}
