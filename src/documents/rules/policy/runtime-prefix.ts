import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const policyRuntimePrefix: LintRule = {
  severity: 'warning',
  law: 'Keys of `decision.runtime` begin with `svc/` and are known.',
  fix: 'Rename the key.',
  source: 'Authoring format, "decision": keys should use the service prefix `svc/`',
  kinds: ['Policy'],
  check(document, report) {
    for (const found of document.at('spec.decision.runtime.*')) {
      if (KNOWN.includes(found.key)) continue
      const place = { ...found, range: found.keyRange }
      const near = nearestCandidate(found.key.startsWith('svc/') ? found.key : `svc/${found.key}`, KNOWN)
      const meant = KNOWN.find((each) => each === `svc/${found.key}`) ?? near
      report(
        place,
        found.key.startsWith('svc/')
          ? `No key "${found.key}" has a meaning.${didYouMean(meant)}`
          : `"${found.key}" has no prefix, so it means nothing.${didYouMean(meant)}`,
        meant === undefined ? {} : { fix: proposeScalarFix(place, meant) },
      )
    }
  },
}

const KNOWN = [
  'svc/allow_field',
  'svc/message',
  'svc/approver_role',
  'svc/separation_of_duties',
  'svc/approval_proof',
  'svc/standing',
  'svc/bulk',
]
