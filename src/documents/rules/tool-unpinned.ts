import { toolsOf } from '../bindings.ts'
import type { Rule } from '../rule.ts'

export const toolUnpinned: Rule = {
  name: 'tool/unpinned',
  severity: 'warning',
  law: 'A tool reference pins a version or a range.',
  fix: 'Add a range: `@^1.3`.',
  source: 'Authoring format, "Tool binding": the version is pinned in `ref`',
  bad: { 'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: svc.ask_user}]\n  limits: {max_loop_iterations: 5}\n' },
  good: { 'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: svc.ask_user@^1}]\n  limits: {max_loop_iterations: 5}\n' },
  check(document, report) {
    for (const { ref, pointer } of toolsOf(document))
      if (ref !== undefined && ref.range === undefined)
        report(`${pointer}/ref`, `${ref.id} is not pinned: any version may be chosen.`, {
          fix: `Write ${ref.id}@^x.y.`,
        })
  },
}
