import type { LintRule } from '../../facts/rule.ts'
import { isLoopback } from '../../../base/net/loopback.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const modelBaseUrlInsecure: LintRule = {
  severity: 'warning',
  law: 'A model on another machine is reached over https.',
  fix: 'Use an https URL.',
  reason: 'Without https the API key can be read on the way.',
  source: 'Authoring format, "spec.model": `base_url`',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.model.base_url')) {
      const parsed = parseUrl(url.value)
      if (parsed?.protocol !== 'http:' || isLoopback(parsed.hostname)) continue
      const secure = url.value.replace(/^http:/i, 'https:')
      report(url, `The API key and all prompts would be sent to ${parsed.hostname} unencrypted.`, {
        fix: replaceScalarFix(url, secure),
      })
    }
  },
}
