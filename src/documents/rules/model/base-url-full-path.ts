import { proposeScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const modelBaseUrlFullPath: LintRule = {
  severity: 'warning',
  law: '`base_url` has no query and does not end in `/chat/completions`, which is appended to it.',
  fix: 'Remove the query and the trailing `/chat/completions`.',
  source: 'Authoring format, "spec.model": `base_url` is a chat-completion endpoint',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.model.base_url')) {
      const parsed = parseUrl(url.value)
      if (parsed === undefined || TOKEN.test(parsed.search)) continue
      const twice = /(?:\/chat\/completions\/*){2,}$/.test(parsed.pathname)
      if (!twice && parsed.search === '') continue
      const trimmed = url.value.replace(/\?[^#]*/, '').replace(/(?:\/chat\/completions\/*){2,}$/, '/chat/completions')
      report(
        url,
        twice ? '`/chat/completions` stands there twice.' : `The query ${parsed.search} would be lost or misread.`,
        {
          fix: proposeScalarFix(url, trimmed),
        },
      )
    }
  },
}

/** `secret/in-url` reports these. */
const TOKEN = /[?&](?:[a-z_-]*(?:token|key|secret|password|auth|sig)[a-z_-]*)=/i
