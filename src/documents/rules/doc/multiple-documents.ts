import { directoryOf } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const docMultipleDocuments: LintRule = {
  severity: 'error',
  essential: true,
  law: "The root Agent's file holds one document.",
  fix: 'Give the other documents files of their own.',
  source: 'Authoring format, "What the service does", 2',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    for (const root of document.texts('spec.root')) {
      const found = workspace.resolve(document, root.value)
      if (!('path' in found)) continue
      const second = workspace.documentsAt(found.path)[1]
      if (second === undefined) continue
      const place = second.placeOf('/kind')
      report(
        place,
        `${found.path} is the root of the bundle in ${directoryOf(document.path) || 'this directory'} and may hold the Agent only; this is a ${second.kind}.`,
        {
          fix: 'Move it to a file of its own.',
          related: [{ path: root.path, range: root.range, message: 'named as the root here' }],
        },
      )
    }
  },
}
