/** Where the thing is written that a reference names. */
import { attachmentsOf, scopeOf } from '../facts/attachments.ts'
import { childOf, subAgentsOf, toolDocument, toolsOf } from '../facts/bindings.ts'
import type { Document, FoundText } from '../text/document.ts'
import { pathsIn } from '../facts/path-refs.ts'
import type { TextSpan } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

export interface DefinitionPlace {
  readonly path: string
  readonly range: TextSpan
}

/** The document, file, secret or server behind the reference at an offset; empty where there is none. */
export function definitionAt(workspace: Workspace, path: string, offset: number): DefinitionPlace[] {
  for (const document of workspace.documentsAt(path)) {
    const found = inDocument(workspace, document, offset)
    if (found.length > 0) return found
  }
  return []
}

function inDocument(workspace: Workspace, document: Document, offset: number): DefinitionPlace[] {
  const under = ({ range }: FoundText): boolean => range.start.offset <= offset && offset <= range.end.offset
  const here = (place: string): FoundText | undefined => document.texts(place).find(under)

  const tool = here('spec.tools.*.ref')
  if (tool !== undefined) {
    const use = toolsOf(document).find(({ pointer }) => tool.pointer === `${pointer}/ref`)
    return heads([use && toolDocument(workspace, use)])
  }
  const agent = here('spec.agents.*.ref')
  if (agent !== undefined) {
    const edge = subAgentsOf(document).find(({ pointer }) => agent.pointer === `${pointer}/ref`)
    const child = edge && childOf(workspace, edge)
    return heads(child === undefined ? workspace.find(document, 'Agent', agent.value.replace(/@.*$/, '')) : [child])
  }
  const attached = attachmentsOf(workspace, document).find(({ at }) => under(at))
  if (attached !== undefined && attached.policies.length > 0) return heads(attached.policies)
  const named = pathsIn(document).find(under)
  if (named !== undefined) {
    const resolved = workspace.resolve(document, named.value)
    return 'path' in resolved ? [fileHead(workspace, resolved.path)] : []
  }
  const scope = here('spec.scope') && scopeOf(document)
  if (scope !== undefined) return heads(workspace.find(document, 'Tool', scope))
  const secret = here('spec.model.secret') ?? here('spec.mcp_servers.*.auth.secret')
  if (secret !== undefined)
    return document
      .at('secrets.*')
      .filter(({ key }) => key === secret.value)
      .map(({ keyRange }) => ({ path: document.path, range: keyRange }))
  const server = here('spec.tools.*.mcp.server')
  return server === undefined
    ? []
    : document
        .texts('spec.mcp_servers.*.name')
        .filter(({ value }) => value === server.value)
        .map(({ range }) => ({ path: document.path, range }))
}

const heads = (documents: readonly (Document | undefined)[]): DefinitionPlace[] =>
  documents.flatMap((document) =>
    document === undefined ? [] : [{ path: document.path, range: document.placeOf('/metadata/name').range }],
  )

const fileHead = (workspace: Workspace, path: string): DefinitionPlace =>
  heads(workspace.documentsAt(path).slice(0, 1))[0] ?? { path, range: workspace.source(path).span(0, 0) }
