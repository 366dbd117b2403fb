import { linkedPolicies } from '../../facts/policies/attachments.ts'
import { linkOf } from '../../facts/policies/decision.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const authorityUnresolved: LintRule = {
  severity: 'warning',
  strict: 'error',
  law: 'At least one policy names each boundary in `authority_ref`; otherwise a synthetic approval applies.',
  fix: 'Add a Policy whose `authority_ref` names the boundary, or correct the name.',
  source: 'Authoring format, "What the service does", 3',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const boundary of document.texts('metadata.governance.authority_boundaries.*')) {
      if (linkedPolicies(workspace, document, boundary.value).length > 0) continue
      const near = nearestCandidate(boundary.value, boundariesLinked(workspace, document))
      report(boundary, `No policy is linked to the boundary "${boundary.value}".${didYouMean(near)}`, {
        why: 'Every call above read_only will need an approval instead.',
        fix:
          near === undefined
            ? `Add a Policy with \`authority_ref: ${boundary.value}\`.`
            : proposeScalarFix(boundary, near),
        meant: near,
      })
    }
  },
}

/** The boundaries that policies name in `authority_ref`. */
const boundariesLinked = (workspace: Workspace, agent: Document): string[] =>
  workspace.publishedTogether(agent).flatMap((each) => (each.kind === 'Policy' ? (linkOf(each) ?? []) : []))
