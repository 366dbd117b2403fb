import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { Document, DocumentIdentity } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { readLogicalRef } from '../../text/reference.ts'

export const toolRefSyntax: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A tool reference has the form `namespace.name[@range]`.',
  fix: 'Write `namespace.name@range`.',
  source: 'Authoring format, "Tool binding": `ref`',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const ref of document.texts('spec.tools.*.ref')) {
      if (readLogicalRef(ref.value) !== undefined) continue
      const tool = findMeantTool(workspace, document, ref.value)
      report(ref, `"${ref.value}" is not a tool reference.`, {
        fix:
          tool === undefined
            ? 'Write namespace.name@range, for example pay.refund@^1.2.'
            : replaceScalarFix(ref, `${tool.id}@^${tool.version}`),
      })
    }
  },
}

/** The Tool at a path, or the one whose name without namespace is written. */
function findMeantTool(workspace: Workspace, document: Document, written: string): DocumentIdentity | undefined {
  const found = workspace.resolve(document, written)
  const near = 'path' in found ? workspace.documentsAt(found.path) : workspace.publishedTogether(document)
  const tools = near.flatMap(({ kind, identity }) => (kind === 'Tool' ? (identity ?? []) : []))
  return tools.find(({ name }) => 'path' in found || name === written)
}
