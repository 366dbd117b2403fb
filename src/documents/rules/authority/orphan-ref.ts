import { linkOf } from '../../facts/policies/decision.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'

export const authorityOrphanRef: LintRule = {
  severity: 'warning',
  law: '`authority_ref` names a boundary that an agent of the bundle declares.',
  fix: 'Declare the boundary in `metadata.governance.authority_boundaries`, or remove the link.',
  reason: 'A boundary that no agent declares has no effect.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const link = linkOf(document)
    if (link === undefined) return
    const named = namedAmong(workspace, workspace.publishedTogether(document))
    if (named.has(link)) return
    const near = nearestCandidate(link, named)
    report('/spec/decision/authority_ref', `No agent declares the boundary "${link}".${didYouMean(near)}`, {
      fix: 'Declare it in `metadata.governance.authority_boundaries`, or remove the link.',
      meant: near,
      subject: [link],
    })
  },
}

/** The boundaries that the documents of one publication declare. */
const namedAmong = memoizePerObject(
  (_, around: readonly Document[]): ReadonlySet<string> =>
    new Set(
      around.flatMap((each) => each.texts('metadata.governance.authority_boundaries.*').map(({ value }) => value)),
    ),
)
