/** Lints edited documents, for an editor that shows the findings beside the text. */
import { lintWorkspace } from '../../documents/lint/lint.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { WrittenFinding } from '../../spec/explanation.ts'
import { openEditedWorkspace, type EditedTexts } from './edited-workspace.ts'

/** Findings shown beside a text; nobody reads more. */
const MAX_FINDINGS = 200

export const lintEditedDocuments = (texts: EditedTexts): readonly WrittenFinding[] =>
  findingsOfEdits(openEditedWorkspace(texts), texts)

export const findingsOfEdits = (workspace: Workspace, { edited }: EditedTexts): readonly WrittenFinding[] =>
  lintWorkspace(workspace)
    .filter(({ path }) => edited.includes(path))
    .slice(0, MAX_FINDINGS)
    .map(toWrittenFinding)

export const toWrittenFinding = ({
  path,
  rule,
  severity,
  message,
  range: { start, end },
}: Diagnostic): WrittenFinding => ({
  path,
  rule,
  severity,
  message,
  from: start.line,
  to: end.line,
  start: start.offset,
  end: end.offset,
})
