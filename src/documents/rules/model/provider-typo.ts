import { distance } from 'fastest-levenshtein'
import { OFFLINE_PROVIDERS, ONLINE_PROVIDERS } from '../../../spec/document.ts'
import { memoizeByText } from '../../text/memoize-by-text.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

const KNOWN: readonly string[] = [
  ...ONLINE_PROVIDERS,
  'vendor_a',
  'vendor_b',
  'vendor_b-compatible',
  ...OFFLINE_PROVIDERS,
]

export const modelProviderTypo: LintRule = {
  severity: 'warning',
  law: 'The provider is not a misspelling of a known one.',
  fix: 'Correct the name of the provider.',
  source: 'Authoring format, "spec.model": any other non-empty name is accepted',
  kinds: ['Agent'],
  check(document, report, { providers }) {
    for (const provider of document.texts('spec.model.provider')) {
      const name = provider.value
      if (KNOWN.includes(name) || Object.hasOwn(providers, name)) continue
      const near = nearKnown(name)
      if (near !== undefined)
        report(provider, `"${name}" is not a known provider. Did you mean "${near}"?`, {
          fix: proposeScalarFix(provider, near),
        })
    }
  },
}

const nearKnown = memoizeByText((name) => KNOWN.find((known) => distance(name, known) <= 2))
