import type { LintRule } from '../../facts/rule.ts'

export const limitsNonPositive: LintRule = {
  severity: 'error',
  law: 'A limit is greater than zero.',
  fix: 'Write a number above 0, or leave the limit out.',
  source: 'Authoring format, "Limits"',
  kinds: ['Agent'],
  check(document, report) {
    for (const limit of document.at('spec.limits.*')) {
      if (typeof limit.value !== 'number' || limit.value > 0 || limit.key === 'on_limit') continue
      report(limit, `${limit.key} must be greater than zero, but is ${limit.value}.`, {
        fix: limit.key === 'max_subagent_depth' ? 'Remove it for the default, 5.' : 'Remove it for no limit.',
      })
    }
  },
}
