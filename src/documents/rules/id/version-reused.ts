import { inc } from 'semver'
import { canonicalJson } from '../../../base/json/json.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { publishedFormOf } from '../../facts/lock/published-form.ts'
import type { LintRule } from '../../facts/rule.ts'

export const idVersionReused: LintRule = {
  severity: 'error',
  law: 'The content of a published version does not change.',
  fix: 'Raise `metadata.version`.',
  reason: 'Agents that pin the version must keep getting the same content.',
  crossFile: true,
  kinds: ['Tool', 'Policy'],
  check(document, report, { workspace, published }) {
    const { kind, identity } = document
    if ((kind !== 'Tool' && kind !== 'Policy') || identity === undefined) return
    const before = published.document?.(kind, identity.id, identity.version)
    if (before === undefined) return
    const now = publishedFormOf(workspace, document)
    if (now === undefined || canonicalJson(now) === canonicalJson(before)) return
    const next = inc(identity.version, 'patch')
    const place = document.placeOf('/metadata/version')
    report(place, `${identity.id}@${identity.version} was published with different content.`, {
      why: 'Publishing it again will be refused.',
      ...(next !== null && { fix: { ...replaceScalarFix(place, next), unsafe: true } }),
    })
  },
}
