import type { LintRule } from '../../facts/rule.ts'

export const limitsEscalateNobody: LintRule = {
  severity: 'info',
  law: 'With `on_limit: escalate`, a run that reaches a limit waits for an operator.',
  fix: 'Write `on_limit: halt` when no operator watches the server.',
  reason: 'The run is neither ended nor continued until an operator decides.',
  source: 'Authoring format, "Limits": `on_limit`',
  kinds: ['Agent'],
  check(document, report) {
    for (const found of document.texts('spec.limits.on_limit'))
      if (found.value === 'escalate')
        report(found, 'Only an operator can answer this escalation; until then the run waits.')
  },
}
