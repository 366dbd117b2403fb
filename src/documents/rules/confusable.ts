import { oncePerWorkspace } from '../once.ts'
import type { Document } from '../document.ts'
import type { Rule } from '../rule.ts'
import { skeletonOf } from '../scripts.ts'

export const confusable: Rule = {
  name: 'id/confusable',
  severity: 'warning',
  law: 'Two documents of a kind have ids that people can tell apart.',
  fix: 'Rename one of them.',
  source: 'Lint rules, "id"',
  bad: {
    'tools.yaml':
      'kind: Tool\nmetadata: {name: send-mail, namespace: crm, version: "1.0.0"}\n---\nkind: Tool\nmetadata: {name: send_mail, namespace: crm, version: "1.0.0"}\n',
  },
  good: {
    'tools.yaml':
      'kind: Tool\nmetadata: {name: send-mail, namespace: crm, version: "1.0.0"}\n---\nkind: Tool\nmetadata: {name: read-mail, namespace: crm, version: "1.0.0"}\n',
  },
  crossFile: true,
  check(document, report, { workspace }) {
    if (document.identity === undefined) return
    const { id } = document.identity
    const twins = (bySkeleton(workspace).get(keyOf(document, id)) ?? []).filter((each) => each.identity!.id !== id)
    const [first] = twins
    // Told once, at the later of the two.
    if (first === undefined || workspace.documents.indexOf(first) > workspace.documents.indexOf(document)) return
    report('/metadata/name', `"${id}" looks like "${first.identity!.id}".`, {
      related: [{ path: first.path, range: first.placeOf('/metadata/name').range, message: 'the other one' }],
    })
  },
}

const keyOf = ({ kind }: Document, id: string): string => `${kind} ${skeletonOf(id)}`

const bySkeleton = oncePerWorkspace(({ documents }) => {
  const groups = new Map<string, Document[]>()
  for (const each of documents) {
    if (each.identity === undefined) continue
    const key = keyOf(each, each.identity.id)
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return groups
})
