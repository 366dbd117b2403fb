import { looksLikeValue } from '../../text/credentials.ts'
import type { LintRule } from '../../facts/rule.ts'

export const secretValueInFromEnv: LintRule = {
  severity: 'error',
  law: '`fromEnv` is the name of an environment variable, not its value.',
  fix: 'Write the name of an environment variable, and revoke the value.',
  source: 'Authoring format, "Agent document": secret values are never written in documents',
  kinds: ['Agent'],
  check(document, report) {
    for (const variable of document.texts('secrets.*.fromEnv')) {
      if (!looksLikeValue(variable.value)) continue
      report(
        variable,
        `This looks like the secret itself (${variable.value.slice(0, 6)}…), not like the name of a variable.`,
        { fix: 'Revoke it, put it into an environment variable, and write the name of that variable.' },
      )
    }
  },
}
