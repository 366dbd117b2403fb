import { mappingIn } from '../../text/document.ts'
import { OFFLINE_PROVIDERS } from '../../../spec/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsMissingTokens: LintRule = {
  severity: 'info',
  strict: 'warning',
  law: 'An agent sets `max_tokens_per_run`.',
  fix: 'Add `limits.max_tokens_per_run`.',
  source: 'Authoring format, "Limits"',
  kinds: ['Agent'],
  check(document, report) {
    if (mappingIn(document, 'spec', 'limits')['max_tokens_per_run'] !== undefined) return
    const provider = document.at('spec.model.provider')[0]?.value
    // Offline providers cost nothing.
    if (typeof provider !== 'string' || OFFLINE_PROVIDERS.includes(provider)) return
    report('/spec/limits', '`max_tokens_per_run` is not set.')
  },
}
