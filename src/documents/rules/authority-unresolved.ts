import type { Rule } from '../rule.ts'
import { nearest } from '../suggest.ts'

export const authorityUnresolved: Rule = {
  name: 'authority/unresolved',
  severity: 'warning',
  strict: 'error',
  law: 'A boundary finds at least one policy whose `authority_ref` names it; else a synthetic approval stands in.',
  fix: 'Add a Policy whose `authority_ref` names the boundary, or correct the name.',
  source: 'Authoring format, "What the service does", 3; policies, section 6',
  bad: {
    'agent.yaml':
      'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0", governance: {authority_boundaries: [spend-limt]}}\n',
    'policy.yaml': 'kind: Policy\nspec: {decision: {type: deny, authority_ref: spend-limit}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0", governance: {authority_boundaries: [spend-limit]}}\n',
    'policy.yaml': 'kind: Policy\nspec: {decision: {type: deny, authority_ref: spend-limit}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const links = workspace
      .neighbours(document)
      .flatMap((each) => (each.kind === 'Policy' ? each.texts('spec.decision.authority_ref') : []))
      .map(({ value }) => value)
    for (const boundary of document.texts('metadata.governance.authority_boundaries.*')) {
      if (links.includes(boundary.value)) continue
      const near = nearest(boundary.value, links)
      report(
        boundary,
        `No policy is linked to the boundary "${boundary.value}".${near === undefined ? '' : ` Did you mean "${near}"?`}`,
        {
          why: 'Every call above read_only will need an approval instead.',
          fix: near === undefined ? `Add a Policy with \`authority_ref: ${boundary.value}\`.` : `Write ${near}.`,
        },
      )
    }
  },
}
