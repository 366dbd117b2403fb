import { directoryOf } from '../paths.ts'
import type { Rule } from '../rule.ts'

export const fileName: Rule = {
  name: 'id/file-name',
  severity: 'info',
  law: 'The file of a Tool, a Policy or a sub-agent is called as the document is.',
  fix: 'Rename the file.',
  source: 'Lint rules, "id"',
  bad: { 'tools/x.yaml': 'kind: Tool\n' },
  good: { 'tools/refund.yaml': 'kind: Tool\n' },
  check(document, report, { workspace }) {
    const { identity, path, kind } = document
    // One file may hold several documents, and the files at the top have names of their own.
    if (identity === undefined || directoryOf(path) === '' || workspace.documentsAt(path).length > 1) return
    if (kind === 'Bundle') return
    const stem = /([^/]+)\.[^./]+$/.exec(path)?.[1] ?? ''
    const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
    if (plain(stem).endsWith(plain(identity.name)) || plain(stem) === 'agent') return
    report('/metadata/name', `The file is called "${stem}", the document "${identity.name}".`)
  },
}
