import { looksLikeValue } from '../../text/credentials.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { variableIn } from '../../workspace/common-mistakes.ts'
import type { LintRule } from '../../facts/rule.ts'

export const secretEnvName: LintRule = {
  severity: 'warning',
  law: 'The name of an environment variable has only capitals, digits and `_`, so that every shell can set it.',
  fix: 'Use capital letters, digits and `_`.',
  kinds: ['Agent'],
  check(document, report) {
    for (const variable of document.texts('secrets.*.fromEnv')) {
      const name = variable.value
      if (/^[A-Z_][A-Z0-9_]*$/.test(name) || looksLikeValue(name)) continue
      const meant = variableIn(name)
      if (meant !== undefined) {
        report(variable, `"${name}" is not a variable name: \`fromEnv\` takes only the name.`, {
          fix: replaceScalarFix(variable, meant),
        })
        continue
      }
      report(variable, `"${name}" is an unusual name for an environment variable.`, {
        fix: `Rename it, for example to ${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}.`,
      })
    }
  },
}
