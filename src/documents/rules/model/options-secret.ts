import { findCredential } from '../../text/credentials.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelOptionsSecret: LintRule = {
  severity: 'error',
  law: '`provider_options` contains no API key: `model.secret` names the key of the model.',
  fix: 'Name an environment variable under `secrets`, and the secret in `model.secret`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  kinds: ['Agent'],
  check(document, report) {
    for (const option of document.texts('spec.model.provider_options.*')) {
      // `secret/literal` reports keys that are recognized by their form.
      if (!KEY.test(option.key) || findCredential(option.value) !== undefined) continue
      report(option, `"${option.key}" would store a key in the document.`, {
        why: 'Everyone who reads the document could use it.',
      })
    }
  },
}

const KEY = /^(?:.*[_-])?(?:api[_-]?key|apikey|secret|token|password|authorization|access[_-]?key)$/i
