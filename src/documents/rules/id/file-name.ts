import { directoryOf } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const fileName: LintRule = {
  name: 'id/file-name',
  severity: 'info',
  law: 'The file of a Tool, a Policy or a sub-agent is called as the document is.',
  fix: 'Rename the file.',
  source: 'Lint rules, "id"',
  check(document, report, { workspace }) {
    const { identity, path, kind } = document
    if (identity === undefined || kind === 'Bundle' || isNamedAfter(path, identity.name)) return
    // One file may hold several documents, and the files at the top have names of their own.
    if (directoryOf(path) === '' || workspace.documentsAt(path).length > 1) return
    const stem = /([^/]+)\.[^./]+$/.exec(path)?.[1] ?? ''
    const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
    if (plain(stem).endsWith(plain(identity.name)) || plain(stem) === 'agent') return
    report('/metadata/name', `The file is called "${stem}", the document "${identity.name}".`, {
      subject: [stem, identity.name],
    })
  },
}

/** To the letter, as most are. */
const isNamedAfter = (path: string, name: string): boolean =>
  path.startsWith(`${name}.`, path.lastIndexOf('/') + 1) &&
  path.lastIndexOf('.') === path.lastIndexOf('/') + 1 + name.length
