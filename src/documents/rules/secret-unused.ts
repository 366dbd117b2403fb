import { providerSpellings } from '../../spec/document.ts'
import { removalWithParent } from '../removal.ts'
import type { Document } from '../document.ts'
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
  check(document, report) {
    const used = usedBy(document)
    for (const secret of document.at('secrets.*')) {
      const { key, pointer, path } = secret
      if (used.includes(key)) continue
      report({ path, pointer, range: secret.keyRange }, `The secret "${key}" is never used.`, {
        fix: { description: 'Remove it.', edits: removalWithParent(document, pointer) },
        subject: [key],
      })
    }
  },
}

function usedBy(agent: Document): readonly string[] {
  const named = [...agent.texts('spec.model.secret'), ...agent.texts('spec.mcp_servers.*.auth.secret')]
  const names = named.map(({ value }) => value)
  const provider = agent.texts('spec.model.provider')[0]?.value
  return provider === undefined || agent.at('spec.model.secret').length > 0
    ? names
    : [...names, provider, ...providerSpellings(provider)]
}
