import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'

export const secretEnvMissing: LintRule<'env'> = {
  severity: 'error',
  law: 'The environment variables of secrets are set on this host (checked with `--check-env`).',
  fix: 'Set the variable, for example in `.env`.',
  source: 'Authoring format, "Authentication": `fromEnv` is resolved on the operator host',
  kinds: ['Agent'],
  needs: ['env'],
  check(document, report, { env }) {
    for (const name of document.texts('secrets.*.fromEnv')) {
      const value = env[name.value]
      if (value !== undefined && value !== '') continue
      const near = nearestCandidate(name.value, Object.keys(env))
      report(
        name,
        `The environment variable ${name.value} is ${value === '' ? 'empty' : 'not set'} here.${didYouMean(near)}`,
        { fix: `Set it: export ${name.value}=…` },
      )
    }
  },
}
