import { isRoot, longestPath } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

/** Default of `max_subagent_depth`. */
const DEFAULT = 5

export const limitsDepthExceeded: LintRule = {
  severity: 'error',
  law: "The longest static delegation path fits the root's `max_subagent_depth`.",
  fix: 'Flatten the delegation, or raise `max_subagent_depth`.',
  reason: 'A delegation below the limit fails at run time.',
  source: 'Authoring format, "Limits": `max_subagent_depth`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    if (!isRoot(workspace, document)) return
    const limit = document.at('spec.limits.max_subagent_depth')[0]
    const allowed = typeof limit?.value === 'number' ? limit.value : DEFAULT
    const path = longestPath(workspace, document)
    // `limits/non-positive` reports a limit that allows nothing.
    if (path.length - 1 <= allowed || allowed <= 0) return
    const names = path.map((each) => each.identity?.id ?? each.path).join(' → ')
    report(
      limit ?? '/spec/agents',
      `Delegation is ${path.length - 1} deep, but ${limit === undefined ? `the default allows ${DEFAULT}` : `max_subagent_depth is ${allowed}`}: ${names}.`,
      { fix: 'Flatten the delegation, or raise the limit.' },
    )
  },
}
