import type { LintRule } from '../../facts/rule.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const secretInUrl: LintRule = {
  severity: 'error',
  law: 'A URL contains no credential.',
  fix: 'Remove it from the address and name a secret: `auth: {scheme: bearer, secret: …}`.',
  source: 'Authoring format, "Authentication": credentials are referenced, never embedded',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.mcp_servers.*.url')) {
      const parsed = parseUrl(url.value)
      if (parsed === undefined) continue
      if (parsed.username !== '' || parsed.password !== '') report(url, 'This address carries a user name or password.')
      else if (TOKEN.test(parsed.search)) report(url, 'The query of this URL contains a credential.')
    }
    for (const url of document.texts('spec.model.base_url'))
      // `model/base-url-invalid` reports user names.
      if (TOKEN.test(parseUrl(url.value)?.search ?? '')) report(url, 'The query of this URL contains a credential.')
  },
}

const TOKEN = /[?&](?:[a-z_-]*(?:token|key|secret|password|passwd|auth|signature|sig)[a-z_-]*)=[^&]/i
