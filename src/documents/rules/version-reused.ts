import { inc } from 'semver'
import { canonical } from '../../base/json.ts'
import { replacement } from '../diagnostic.ts'
import { frozenOf } from '../frozen.ts'
import type { Rule } from '../rule.ts'

export const versionReused: Rule = {
  name: 'id/version-reused',
  severity: 'error',
  law: 'A version that was published keeps its content.',
  fix: 'Raise `metadata.version`.',
  source: 'Bundles, section 4: a published version is immutable',
  bad: {
    'tool.yaml':
      'kind: Tool\nmetadata: {name: published, namespace: pay, version: "1.2.0"}\nspec: {description: Pays an amount back and tells the customer.}\n',
  },
  good: {
    'tool.yaml':
      'kind: Tool\nmetadata: {name: published, namespace: pay, version: "1.2.1"}\nspec: {description: Pays an amount back and tells the customer.}\n',
  },
  crossFile: true,
  kinds: ['Tool', 'Policy'],
  check(document, report, { workspace, published }) {
    const { kind, identity } = document
    if ((kind !== 'Tool' && kind !== 'Policy') || identity === undefined) return
    const before = published.document?.(kind, identity.id, identity.version)
    if (before === undefined) return
    const now = frozenOf(workspace, document)
    if (now === undefined || canonical(now) === canonical(before)) return
    const next = inc(identity.version, 'patch')
    const place = document.placeOf('/metadata/version')
    report(place, `${identity.id}@${identity.version} was published with another content.`, {
      why: 'Publishing it again will be refused.',
      ...(next !== null && { fix: { ...replacement(place, next), unsafe: true } }),
    })
  },
}
