import { canonicalProvider, OFFLINE_PROVIDERS, providerSpellings } from '../../../spec/document.ts'
import { insertionEdits } from '../../edit/insertion.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelSecretImplicitMissing: LintRule = {
  severity: 'error',
  law: 'Without `model.secret`, the agent declares a secret named after the provider. Offline providers need none, nor does a provider that the project file declares with a `key`, or as `openai-compatible` or `bedrock`.',
  fix: 'Declare a secret, and name it in `model.secret`.',
  source: 'Authoring format, "spec.model": `secret`',
  kinds: ['Agent'],
  check(document, report, { providers }) {
    if (document.at('spec.model.secret').length > 0) return
    for (const provider of document.texts('spec.model.provider')) {
      const names = [provider.value, ...providerSpellings(provider.value)]
      const mapped = names.flatMap((name) => (Object.hasOwn(providers, name) ? providers[name]! : []))[0]
      if (OFFLINE_PROVIDERS.includes(mapped?.type ?? canonicalProvider(provider.value))) continue
      // A document's own address never gets the key of the project file.
      const hasOwnAddress = document.at('spec.model.base_url').length > 0
      if (mapped && !hasOwnAddress && (mapped.key !== undefined || KEYLESS_TYPES.includes(mapped.type))) continue
      if (document.at('secrets.*').some(({ key }) => names.includes(key))) continue
      report(
        provider,
        `No secret for the provider "${provider.value}": neither \`model.secret\` nor a secret named "${provider.value}" is there.`,
        {
          fix: {
            description: `Add \`secrets: {${provider.value}: {fromEnv: ${variable(provider.value)}}}\`.`,
            edits: /^[a-z][a-z0-9_-]*$/.test(provider.value)
              ? insertionEdits(
                  document,
                  `/secrets/${provider.value}`,
                  provider.path.endsWith('.json')
                    ? `{ "fromEnv": "${variable(provider.value)}" }`
                    : `{ fromEnv: ${variable(provider.value)} }`,
                  'spec',
                )
              : [],
          },
        },
      )
    }
  },
}

/** Types that may need no key where the project file declares them: local servers, and AWS with the credentials of the server. */
const KEYLESS_TYPES: readonly string[] = ['openai-compatible', 'bedrock']

const variable = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`
