import { cycleThrough, subAgentEdges } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentCycle: LintRule = {
  severity: 'error',
  law: 'Agents delegate in a cycle only through a late-bound edge.',
  fix: 'Remove one of the delegations, or set `late_bound: true` on it.',
  reason: 'Sub-agents are compiled before the agent that delegates to them; a cycle has no first one.',
  source: 'Authoring format, "Sub-agent binding": `late_bound`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const edge of subAgentEdges(workspace, document)) {
      const cycle = cycleThrough(workspace, edge)
      // Reported once, at the member whose path sorts first.
      if (cycle === undefined || cycle.some(({ path }) => path < document.path)) continue
      const names = cycle.map((each) => each.identity?.id ?? each.path).join(' → ')
      report(`${edge.pointer}/ref`, `The agents delegate in a circle: ${names}.`, {
        fix: 'Remove one of the delegations, or make it `late_bound: true`.',
      })
    }
  },
}
