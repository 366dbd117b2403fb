import { attachmentsOf } from '../../facts/policies/attachments.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyUnusedDocument: LintRule = {
  severity: 'warning',
  law: 'Each Policy document of a bundle is attached or linked to a boundary.',
  fix: 'Attach it, link it with `authority_ref`, or remove it.',
  reason: 'A policy that is not attached decides about no call.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace, guardrails }) {
    if (document.identity === undefined || guardrails.includes(document.path)) return
    if (decisionOf(document)['authority_ref'] !== undefined || attached(workspace).has(document)) return
    const { id } = document.identity
    if (workspace.bundleOf(document) !== undefined)
      report('/metadata/name', `${id} is not attached anywhere, so it has no effect.`, { subject: [id] })
  },
}

const attached = memoizePerWorkspace(
  (workspace) =>
    new Set(workspace.documents.flatMap((each) => attachmentsOf(workspace, each)).flatMap(({ policies }) => policies)),
)
