import { providerSpellings } from '../../spec/document.ts'
import { removalWithParent } from '../removal.ts'
import type { Rule } from '../rule.ts'

export const secretUnused: Rule = {
  name: 'secret/unused',
  severity: 'warning',
  law: 'A secret that is declared is used.',
  fix: 'Remove it.',
  source: 'Authoring format, "Authentication"',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  model: {provider: anthropic, name: m, secret: k}\nsecrets: {k: {fromEnv: K}, old: {fromEnv: OLD}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  model: {provider: anthropic, name: m, secret: k}\nsecrets: {k: {fromEnv: K}}\n',
  },
  kinds: ['Agent'],
  needs: ['secrets.*'],
  check(document, report) {
    const named = [...document.texts('spec.model.secret'), ...document.texts('spec.mcp_servers.*.auth.secret')].map(
      ({ value }) => value,
    )
    const provider = document.texts('spec.model.provider')[0]?.value
    const implicit =
      provider !== undefined && document.at('spec.model.secret').length === 0
        ? [provider, ...providerSpellings(provider)]
        : []
    for (const { key, pointer, path, keyRange } of document.at('secrets.*')) {
      if (named.includes(key) || implicit.includes(key)) continue
      report({ path, pointer, range: keyRange }, `The secret "${key}" is never used.`, {
        fix: { description: 'Remove it.', edits: removalWithParent(document, pointer) },
      })
    }
  },
}
