import { directoryOf } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const idFileName: LintRule = {
  severity: 'info',
  law: 'The file of a Tool, Policy or sub-agent has the name of its document.',
  fix: 'Rename the file.',
  check(document, report, { workspace }) {
    const { identity, path, kind } = document
    if (identity === undefined || kind === 'Bundle' || isNamedAfter(path, identity.name)) return
    // A file with several documents, or at the top of the workspace, may have any name.
    if (directoryOf(path) === '' || workspace.documentsAt(path).length > 1) return
    const stem = /([^/]+)\.[^./]+$/.exec(path)?.[1] ?? ''
    const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
    if (plain(stem).endsWith(plain(identity.name)) || plain(stem) === 'agent') return
    report('/metadata/name', `The file is named "${stem}", the document "${identity.name}".`, {
      subject: [stem, identity.name],
    })
  },
}

/** Fast path: most files have exactly the name of their document. */
const isNamedAfter = (path: string, name: string): boolean =>
  path.startsWith(`${name}.`, path.lastIndexOf('/') + 1) &&
  path.lastIndexOf('.') === path.lastIndexOf('/') + 1 + name.length
