import type { Rule } from '../rule.ts'
import { readLogicalRef } from '../reference.ts'

export const toolRefSyntax: Rule = {
  name: 'tool/ref-syntax',
  severity: 'error',
  law: 'A tool is referred to as `namespace.name[@range]`.',
  fix: 'Write `namespace.name@range`.',
  source: 'Authoring format, "Tool binding": `ref`',
  bad: {
    'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: tools/refund.yaml}]\n  limits: {max_loop_iterations: 5}\n',
  },
  good: { 'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: svc.ask_user@^1}]\n  limits: {max_loop_iterations: 5}\n' },
  kinds: ['Agent'],
  check(document, report) {
    for (const ref of document.texts('spec.tools.*.ref')) {
      if (readLogicalRef(ref.value) !== undefined) continue
      report(ref, `"${ref.value}" is no reference to a tool.`, {
        fix: 'Write namespace.name@range, for example pay.refund@^1.2.',
      })
    }
  },
}
