import { authorityOver, gateEffectOf, isStopped } from '../../facts/policies/authority.ts'
import { effectiveClass, toolsOf } from '../../facts/agents/bindings.ts'
import { conditionOf } from '../../facts/policies/conditions.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { isAlwaysTrue, isBounding } from '../../../policy/prove/conditions.ts'
import { possibleValuesUnder, type PossibleValuesAt } from '../../../policy/prove/possible-values.ts'
import type { LintRule } from '../../facts/rule.ts'
import { describeExampleCall } from '../../facts/policies/example-call.ts'

export const securityIrreversibleWithoutApproval: LintRule = {
  severity: 'error',
  law: 'A policy that allows an irreversible action without approval bounds its arguments.',
  fix: 'Require an approval, or limit the grant, for example by a maximum amount or a list of receivers.',
  reason: 'By default an irreversible action needs one approval; a grant lifts it.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    for (const use of toolsOf(document)) {
      if (effectiveClass(project.workspace, use) !== 'irreversible_action') continue
      if (isStopped(project, use)) continue
      const schema = inputOf(project.workspace, use)?.value
      const values = schema === undefined ? undefined : possibleValuesUnder(schema)
      const domains: PossibleValuesAt = (path) => (path.root === 'args' ? values?.(path) : undefined)
      // `security/blanket-allow-irreversible` reports grants without conditions.
      const grants = authorityOver(project, use).policies.flatMap((policy) => {
        const condition = gateEffectOf(policy) === 'grant' ? conditionOf(policy) : undefined
        return condition === undefined ? [] : [{ policy, condition }]
      })
      const together = { any: grants.map(({ condition }) => condition) }
      const [grant] =
        grants.length > 0 && isAlwaysTrue(together, domains)
          ? grants
          : grants.filter(({ condition }) => !isBounding(condition, domains))
      if (grant === undefined) continue
      report(
        `${use.pointer}/ref`,
        `${use.ref?.id ?? 'A tool'} cannot be undone, and runs without an approval${describeExampleCall(schema, grant.condition)}.`,
        {
          related: [
            {
              path: grant.policy.path,
              range: grant.policy.placeOf('/spec/decision/type').range,
              message: 'the grant',
            },
          ],
        },
      )
    }
  },
}
