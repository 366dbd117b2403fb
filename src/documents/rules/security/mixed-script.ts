import { isMixed } from '../../text/scripts.ts'
import type { LintRule } from '../../facts/rule.ts'
import { codePointName } from '../../../base/text/text-parts.ts'

export const securityMixedScript: LintRule = {
  severity: 'warning',
  law: 'An id, wire name or host uses letters of one script.',
  fix: 'Use Latin letters only.',
  reason: 'Letters of other scripts look like Latin letters.',
  check(document, report) {
    for (const place of PLACES)
      for (const found of document.texts(place)) {
        const odd = isMixed(found.value) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.exec(found.value)?.[0]
        if (odd) report(found, `"${odd}" (${codePointName(odd)}) is not a Latin letter, though it looks like one.`)
      }
  },
}

const PLACES = [
  'metadata.name',
  'metadata.namespace',
  'metadata.governance.authority_boundaries.*',
  'spec.scope',
  'spec.tools.*.ref',
  'spec.tools.*.as',
  'spec.agents.*.ref',
  'spec.agents.*.as',
  'spec.mcp_servers.*.url',
  'spec.mcp_servers.*.name',
  'spec.model.base_url',
  'spec.decision.authority_ref',
]
