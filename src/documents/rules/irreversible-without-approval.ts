import { authorityOver, effectOf, stops } from '../authority.ts'
import { effectiveClass, toolsOf } from '../bindings.ts'
import { conditionOf } from '../conditions.ts'
import { inputOf } from '../inputs.ts'
import { leavesOf } from '../../policy/condition.ts'
import { alwaysTrue, domainAt } from '../reasoning.ts'
import type { Rule } from '../rule.ts'
import { witnessOf } from '../witness.ts'

export const irreversibleWithoutApproval: Rule = {
  name: 'security/irreversible-without-approval',
  severity: 'error',
  law: 'What lets an irreversible action pass without an approval looks at its arguments.',
  fix: 'Require an approval, or bound the grant by an argument.',
  source: 'Policies, section 4: an irreversible action needs one approval; a grant lifts it',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.wire@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml':
      'kind: Tool\nmetadata: {name: wire, namespace: pay, version: "1.0.0"}\nspec:\n  side_effect_class: irreversible_action\n  input_schema: {inline: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}, additionalProperties: false}}\n',
    'policy.yaml': 'kind: Policy\nspec: {conditions: {field: run.depth, value: 0}, decision: {type: allow}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.wire@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml':
      'kind: Tool\nmetadata: {name: wire, namespace: pay, version: "1.0.0"}\nspec:\n  side_effect_class: irreversible_action\n  input_schema: {inline: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}, additionalProperties: false}}\n',
    'policy.yaml':
      'kind: Policy\nspec: {conditions: {field: args.amount, op: lte, value: 50}, decision: {type: allow}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    for (const use of toolsOf(document)) {
      if (effectiveClass(project.workspace, use) !== 'irreversible_action') continue
      const { policies, unseen, synthetic } = authorityOver(project, use)
      if (unseen || synthetic || policies.some(stops)) continue
      const schema = inputOf(project.workspace, use)?.value
      const grant = policies.find((policy) => {
        const condition = effectOf(policy) === 'grant' ? conditionOf(policy) : undefined
        // Without conditions it is `security/blanket-allow-irreversible`.
        if (condition === undefined) return false
        const blind = !leavesOf(condition).some(({ path }) => path.root === 'args' || path.root === 'history')
        return blind || (schema !== undefined && alwaysTrue(condition, (path) => domainAt(schema, path.segments)))
      })
      if (grant === undefined) continue
      report(
        `${use.pointer}/ref`,
        `${use.ref?.id ?? 'A tool'} cannot be undone, and is done without an approval${witnessOf(schema)}.`,
        {
          related: [{ path: grant.path, range: grant.placeOf('/spec/decision/type').range, message: 'the grant' }],
        },
      )
    }
  },
}
