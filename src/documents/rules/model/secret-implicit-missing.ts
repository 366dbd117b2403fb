import { insertionEdits } from '../../edit/insertion.ts'
import { lacksProviderSecret } from '../../facts/agents/model-secret.ts'
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
      const [address] = document.texts('spec.model.base_url')
      const model = { provider: provider.value, ...(address && { base_url: address.value }) }
      const declared = document.at('secrets.*').map(({ key }) => key)
      if (!lacksProviderSecret(model, declared, providers)) continue
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

const variable = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`
