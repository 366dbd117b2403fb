import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'
import { type Document } from '../../text/document.ts'

export const toolNoInputSchema: LintRule = {
  severity: 'warning',
  law: 'A tool has an input schema, so that arguments can be validated and policies can read them.',
  fix: 'Add `input_schema`.',
  source: 'Authoring format, "Tool document": `input_schema`',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    if (document.identity === undefined || document.at('spec.input_schema').length > 0) return
    if (boundBare(workspace).has(document))
      report('/metadata/name', `Nothing says which arguments ${document.identity.id} takes.`)
  },
}

/** Tools with a binding that has no input schema of its own. */
const boundBare = memoizePerWorkspace(
  (workspace) =>
    new Set<Document | undefined>(
      workspace.documents
        .flatMap(toolsOf)
        .filter(({ value }) => value['input_schema'] === undefined)
        .map((use) => toolDocument(workspace, use)),
    ),
)
