import { findCredential } from '../../text/credentials.ts'
import type { LintRule } from '../../facts/rule.ts'

export const optionsSecret: LintRule = {
  name: 'model/options-secret',
  severity: 'error',
  law: "The provider options hold no key: the model's key is named by `model.secret`.",
  fix: 'Name an environment variable under `secrets`, and the secret in `model.secret`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  kinds: ['Agent'],
  check(document, report) {
    for (const option of document.texts('spec.model.provider_options.*')) {
      // `secret/literal` speaks of what can be told by its form.
      if (!KEY.test(option.key) || findCredential(option.value) !== undefined) continue
      report(option, `"${option.key}" would keep a key in the document.`, {
        why: 'Everyone who reads the document could use it.',
      })
    }
  },
}

const KEY = /^(?:.*[_-])?(?:api[_-]?key|apikey|secret|token|password|authorization|access[_-]?key)$/i
