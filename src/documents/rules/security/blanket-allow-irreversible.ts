import { authorityOver, gateEffectOf } from '../../facts/policies/authority.ts'
import { effectiveClass, toolsOf } from '../../facts/agents/bindings.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityBlanketAllowIrreversible: LintRule = {
  severity: 'error',
  law: 'A grant of an irreversible action has conditions.',
  fix: 'Add conditions to the grant.',
  reason: 'A grant lifts the approval that an irreversible action needs by default.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const blankets = blanketGrants(project.workspace)
    if (blankets.size === 0) return
    for (const use of toolsOf(document)) {
      if (effectiveClass(project.workspace, use) !== 'irreversible_action') continue
      for (const policy of authorityOver(project, use).policies) {
        if (!blankets.has(policy)) continue
        report(
          policy.placeOf('/spec/decision/type'),
          `This allows every call of ${use.ref?.id ?? 'a tool'}, which cannot be undone.`,
          {
            related: [
              { path: document.path, range: document.placeOf(`${use.pointer}/ref`).range, message: 'bound here' },
            ],
          },
        )
      }
    }
  },
}

/** The policies that allow every call in their scope; most projects have none. */
const blanketGrants = memoizePerWorkspace(
  ({ documents }): ReadonlySet<Document> =>
    new Set(
      documents.filter(
        (policy) =>
          policy.kind === 'Policy' && gateEffectOf(policy) === 'grant' && policy.at('spec.conditions').length === 0,
      ),
    ),
)
