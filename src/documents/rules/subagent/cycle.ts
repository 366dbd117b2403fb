import { cycleThrough, subAgentEdges } from '../../facts/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentCycle: LintRule = {
  name: 'subagent/cycle',
  severity: 'error',
  law: 'Agents delegate in a cycle only through a late-bound edge.',
  fix: 'Remove an edge, or bind it late.',
  source: 'Bundles, section 1; authoring format, "Sub-agent binding": `late_bound`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const edge of subAgentEdges(workspace, document)) {
      const cycle = cycleThrough(workspace, edge)
      // Reported once, at the member whose path sorts first.
      if (cycle === undefined || cycle.some(({ path }) => path < document.path)) continue
      const names = cycle.map((each) => each.identity?.id ?? each.path).join(' → ')
      report(`${edge.pointer}/ref`, `The agents delegate in a circle: ${names}.`, {
        fix: 'Remove an edge, or make it `late_bound: true`.',
      })
    }
  },
}
