import { toolsOf } from '../../facts/agents/bindings.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const toolUnusedDocument: LintRule = {
  severity: 'info',
  law: 'Each Tool document of a bundle is bound by one of its agents.',
  fix: 'Bind the tool in an agent, or remove the document.',
  reason: 'A bundle contains what its root reaches; other documents are not published.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    if (document.identity === undefined) return
    if (workspace.bundleOf(document) === undefined) return
    const { id } = document.identity
    if (!isBound(workspace, document)) report('/metadata/name', `No agent binds ${id}.`, { subject: [id] })
  },
}

/** True when an agent of the workspace binds the tool. */
const isBound = (workspace: Workspace, tool: Document): boolean => bound(workspace).has(tool)

/** Ignores versions: `tool/unresolved` reports a range that matches none. */
const bound = memoizePerWorkspace(
  (workspace) =>
    new Set<Document>(
      workspace.documents
        .flatMap(toolsOf)
        .flatMap(({ agent, ref }) => (ref === undefined ? [] : workspace.find(agent, 'Tool', ref.id))),
    ),
)
