import { canonicalProvider, OFFLINE_PROVIDERS, providerSpellings } from '../../../spec/document.ts'
import { fallbackOf } from '../../facts/agents/model-fallback.ts'
import { removalWithParent } from '../../edit/removal.ts'
import type { Document } from '../../text/document.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const secretUnused: LintRule = {
  severity: 'warning',
  law: 'Each declared secret is used.',
  fix: 'Remove the secret.',
  source: 'Authoring format, "Authentication"',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const used = usedBy(document)
    const fallback = fallbackSecrets(document, workspace)
    const declared = document.at('secrets.*').map(({ key }) => key)
    // An undeclared name may be a misspelling of the unused secret, so removing the secret is then not a safe fix.
    const isMissing =
      namedBy(document).some((name) => !declared.includes(name)) ||
      (!isOffline(document) && used.length > 0 && !used.some((name) => declared.includes(name)))
    for (const secret of document.at('secrets.*')) {
      const { key, pointer, path } = secret
      if (used.includes(key) || fallback.includes(key)) continue
      const isWhole = document
        .texts(`secrets.${key}.fromEnv`)
        .some((found) => found.pointer === pointerTo(pointer, 'fromEnv'))
      report({ path, pointer, range: secret.keyRange }, `The secret "${key}" is never used.`, {
        fix:
          isMissing || !isWhole
            ? 'Name it where it is used, or remove it.'
            : { description: 'Remove it.', edits: removalWithParent(document, pointer) },
        subject: [key],
      })
    }
  },
}

const isOffline = (agent: Document): boolean =>
  agent.texts('spec.model.provider').some(({ value }) => OFFLINE_PROVIDERS.includes(canonicalProvider(value)))

const namedBy = (agent: Document): readonly string[] =>
  [...agent.texts('spec.model.secret'), ...agent.texts('spec.mcp_servers.*.auth.secret')].map(({ value }) => value)

/** Secrets of the models that `svc/model-fallback` names. */
const fallbackSecrets = (agent: Document, workspace: Workspace): readonly string[] =>
  fallbackOf(agent, workspace, { provider: '', name: '' }).flatMap(({ provider, secret }) =>
    secret === undefined ? [provider, ...providerSpellings(provider)] : [secret],
  )

function usedBy(agent: Document): readonly string[] {
  const names = namedBy(agent)
  const provider = agent.texts('spec.model.provider')[0]?.value
  return provider === undefined || agent.at('spec.model.secret').length > 0
    ? names
    : [...names, provider, ...providerSpellings(provider)]
}
