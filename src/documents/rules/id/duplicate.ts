import type { LintRule } from '../../facts/rule.ts'

export const duplicateIdentity: LintRule = {
  name: 'id/duplicate',
  severity: 'error',
  law: 'Kind and `namespace.name` are unique in a bundle.',
  fix: 'Rename one of the two.',
  source: 'Authoring format, "Common": `name` is unique within `namespace`',
  bad: {
    'a.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\n',
    'b.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\n',
  },
  good: {
    'a.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\n',
    'b.yaml': 'kind: Tool\nmetadata: {name: wire, namespace: pay, version: "1.0.0"}\n',
  },
  crossFile: true,
  check(document, report, { workspace }) {
    const { kind, identity } = document
    if (identity === undefined) return
    const [first] = workspace.find(document, kind, identity.id)
    if (first === undefined || first === document) return
    report('/metadata/name', `${kind} ${identity.id} is there already.`, {
      fix: 'Rename one of them, or remove it.',
      related: [{ path: first.path, range: first.placeOf('/metadata/name').range, message: 'first here' }],
    })
  },
}
