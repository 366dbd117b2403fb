import type { LintRule } from '../../facts/rule.ts'

export const outputEscalateUnhandled: LintRule = {
  severity: 'info',
  law: 'With `on_invalid: escalate`, an invalid output waits for an operator.',
  fix: 'Write `on_invalid: fail` when no operator watches the server.',
  source: 'Authoring format, "output": `on_invalid`',
  kinds: ['Agent'],
  check(document, report) {
    for (const found of document.texts('output.on_invalid'))
      if (found.value === 'escalate')
        report(found, 'Only an operator can answer this escalation; until then the run waits.')
  },
}
