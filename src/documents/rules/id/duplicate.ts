import type { LintRule } from '../../facts/rule.ts'

export const idDuplicate: LintRule = {
  severity: 'error',
  law: 'Kind and `namespace.name` are unique in a bundle.',
  fix: 'Rename one of the two.',
  source: 'Authoring format, "Common": `name` is unique within `namespace`',
  crossFile: true,
  check(document, report, { workspace }) {
    const { kind, identity } = document
    if (identity === undefined) return
    const [first] = workspace.find(document, kind, identity.id)
    if (first === undefined || first === document) return
    report('/metadata/name', `${kind} ${identity.id} is declared more than once.`, {
      fix: 'Rename one of them, or remove it.',
      related: [{ path: first.path, range: first.placeOf('/metadata/name').range, message: 'first here' }],
    })
  },
}
