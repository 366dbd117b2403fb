import { mappingIn } from '../../text/document.ts'
import { subAgentEdges } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsChildExceedsParent: LintRule = {
  severity: 'warning',
  law: 'The limits of a sub-agent are not larger than those of the agent that delegates to it.',
  fix: 'Lower the limit of the sub-agent.',
  reason: 'Tokens of sub-agents count for the whole run, so the higher limit is never reached.',
  source: 'Authoring format, "Limits": limits cap a whole run',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const { child } of subAgentEdges(workspace, document))
      for (const name of CAPS) {
        const own = mappingIn(document, 'spec', 'limits')[name]
        const other = mappingIn(child, 'spec', 'limits')[name]
        if (typeof own !== 'number' || typeof other !== 'number' || other <= own) continue
        // `limits/non-positive` reports such a limit.
        if (own <= 0) continue
        const { path, range } = document.placeOf(`/spec/limits/${name}`)
        report(
          child.placeOf(`/spec/limits/${name}`),
          `${name} is ${other} here, but ${own} in ${document.identity?.id ?? document.path}, which delegates to this agent.`,
          {
            related: [{ path, range, message: `${own} here` }],
          },
        )
      }
  },
}

const CAPS = ['max_tokens_per_run', 'max_wall_clock_seconds']
