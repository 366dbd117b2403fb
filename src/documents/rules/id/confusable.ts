import { groupBy } from '../../../base/values/collections.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'
import { isIdentified, type Document, type IdentifiedDocument } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import { skeletonOf } from '../../text/scripts.ts'

export const idConfusable: LintRule = {
  severity: 'warning',
  law: 'Documents of the same kind have ids that people can tell apart.',
  fix: 'Rename one of them.',
  reason: 'A reviewer may take one for the other.',
  crossFile: true,
  check(document, report, { workspace }) {
    if (document.identity === undefined) return
    const first = twins(workspace).get(document)
    if (first === undefined) return
    const { id } = document.identity
    report('/metadata/name', `"${id}" looks like "${first.identity.id}".`, {
      related: [{ path: first.path, range: first.placeOf('/metadata/name').range, message: 'the other one' }],
    })
  },
}

/** Maps the later of two documents to the first one with a confusable id, so that each pair is reported once. */
const twins = memoizePerWorkspace(({ documents }): ReadonlyMap<Document, IdentifiedDocument> => {
  const twins = new Map<Document, IdentifiedDocument>()
  const named = documents.filter(isIdentified)
  for (const alike of groupBy(named, ({ kind, identity }) => `${kind} ${skeletonOf(identity.id)}`).values())
    for (const [at, each] of alike.entries()) {
      const first = alike.slice(0, at).find(({ identity }) => identity.id !== each.identity.id)
      if (first !== undefined) twins.set(each, first)
    }
  return twins
})
