import type { LintRule } from '../../facts/rule.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const modelBaseUrlInvalid: LintRule = {
  severity: 'error',
  law: '`base_url` is an absolute http or https URL without user name, password and fragment.',
  fix: 'Write an absolute http(s) URL without user name and fragment.',
  source: 'Authoring format, "spec.model"',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.model.base_url')) {
      const problem = problemOf(url.value)
      if (problem !== undefined)
        report(url, `"${url.value}" ${problem}.`, { fix: 'Write an absolute URL such as "http://localhost:8080/v1".' })
    }
  },
}

function problemOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/]/i.test(text) || parseUrl(text) === undefined) return 'is not an absolute http or https URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  if (url.hash !== '') return 'contains a fragment'
  return undefined
}
