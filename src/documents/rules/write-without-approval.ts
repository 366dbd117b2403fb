import { isGated } from '../authority.ts'
import { effectiveClass, toolsOf } from '../bindings.ts'
import { abilitiesOf } from '../capabilities.ts'
import { inputOf } from '../inputs.ts'
import type { Rule } from '../rule.ts'
import { witnessOf } from '../witness.ts'

export const writeWithoutApproval: Rule = {
  name: 'security/write-without-approval',
  severity: 'warning',
  law: 'Some policy looks at a write that must not happen twice.',
  fix: 'Attach a policy that asks, denies or bounds.',
  source: 'Policies, section 4: the side-effect default allows it',
  bad: {
    'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\nspec: {side_effect_class: non_idempotent_write}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\nspec: {side_effect_class: non_idempotent_write}\n',
    'policy.yaml': 'kind: Policy\nspec: {conditions: {field: args.amount, op: gt, value: 1000}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    // Where strangers are read, `security/untrusted-steers-write` says it.
    if (abilitiesOf(workspace, document).untrusted) return
    for (const use of toolsOf(document))
      if (effectiveClass(workspace, use) === 'non_idempotent_write' && !isGated(project, use))
        report(
          `${use.pointer}/ref`,
          `No policy looks at ${use.ref?.id ?? 'this tool'}, which changes something each time${witnessOf(inputOf(workspace, use)?.value)}.`,
        )
  },
}
