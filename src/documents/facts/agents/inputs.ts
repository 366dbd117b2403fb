/** The schemas of the arguments of a call and of its result. Source: docs/design/policies.md#when-a-call-is-decided */
import { toolDocument, type CallBinding, type ToolUse } from './bindings.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import { schemaAt, type SchemaText } from '../../schemas/schemas.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** The schema of a binding: its own, else that of its Tool document; undefined where there is none that can be read. */
export const inputOf = memoizePerObject((workspace, use: ToolUse): SchemaText | undefined => {
  const own = ownInput(workspace, use)
  const tool = toolDocument(workspace, use)
  return own ?? (tool === undefined ? undefined : toolInput(workspace, tool))
})

/** The schema that a binding itself brings. */
export const ownInput = (workspace: Workspace, { agent, pointer, value }: CallBinding): SchemaText | undefined =>
  value['input_schema'] === undefined
    ? undefined
    : at(workspace, agent, `${pointer.slice(1).replaceAll('/', '.')}.input_schema`)

/** The schema of a Tool document. */
export const toolInput = memoizePerObject((workspace, tool: Document): SchemaText | undefined =>
  at(workspace, tool, 'spec.input_schema'),
)

/** The schema of the results of a Tool document. */
export const toolOutput = memoizePerObject((workspace, tool: Document): SchemaText | undefined =>
  at(workspace, tool, 'spec.output_schema'),
)

function at(workspace: Workspace, document: Document, path: string): SchemaText | undefined {
  const [found] = document.at(path)
  return found === undefined ? undefined : schemaAt(workspace, document, found)?.schema
}
