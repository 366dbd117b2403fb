/** The outline of a file, and the documents of a project by their ids. */
import type { DocumentKind } from '../../spec/document.ts'
import { subAgentsOf, toolsOf, wireNameOf } from '../facts/agents/bindings.ts'
import type { Document } from '../text/document.ts'
import type { TextSpan } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

export interface OutlineSymbol {
  readonly name: string
  readonly detail: string
  readonly kind: DocumentKind | 'tool' | 'agent' | 'boundary' | 'secret' | 'server'
  /** The whole symbol. */
  readonly range: TextSpan
  /** The part that an editor selects; within `range`. */
  readonly selection: TextSpan
  readonly children: readonly OutlineSymbol[]
}

/** The documents of a file, each with its bindings, boundaries, secrets and MCP servers. */
export const symbolsIn = (workspace: Workspace, path: string): OutlineSymbol[] =>
  workspace.documentsAt(path).map((document) => documentSymbol(document, membersOf(workspace, document)))

/** Documents whose id has the letters of a query in their order; all for the empty query. */
export function findSymbols(workspace: Workspace, query: string): (OutlineSymbol & { readonly path: string })[] {
  const wanted = query.toLowerCase()
  const matches = (id: string): boolean => {
    let at = 0
    for (let index = 0; index < id.length && at < wanted.length; index++) if (id[index] === wanted[at]) at++
    return at === wanted.length
  }
  return workspace.documents
    .filter(({ identity }) => identity !== undefined && matches(identity.id.toLowerCase()))
    .map((document) => ({ ...documentSymbol(document, []), path: document.path }))
}

function documentSymbol(document: Document, children: readonly OutlineSymbol[]): OutlineSymbol {
  const { kind, identity, path, root, source } = document
  const range = source.span(root.start, root.end)
  return {
    name: identity?.id ?? path,
    detail: identity === undefined ? kind : `${kind} ${identity.version}`,
    kind,
    range,
    selection: document.texts('metadata.name')[0]?.range ?? source.span(root.start, root.start),
    children,
  }
}

function membersOf(workspace: Workspace, document: Document): OutlineSymbol[] {
  const named = (place: string, kind: OutlineSymbol['kind'], detail: string): OutlineSymbol[] =>
    document
      .texts(place)
      .map(({ value, range }) => ({ name: value, detail, kind, range, selection: range, children: [] }))
  const bindings = [
    ...toolsOf(document).map((binding) => ({ binding, kind: 'tool' as const })),
    ...subAgentsOf(document).map((binding) => ({ binding, kind: 'agent' as const })),
  ].flatMap(({ binding, kind }): OutlineSymbol[] => {
    const ref = document.texts(`${binding.pointer.slice(1).replaceAll('/', '.')}.ref`)[0]
    if (ref === undefined) return []
    const name = wireNameOf(workspace, binding) ?? ref.value
    const range = document.spanOf(binding.pointer) ?? ref.range
    return [{ name, detail: ref.value, kind, range, selection: ref.range, children: [] }]
  })
  return [
    ...bindings,
    ...named('metadata.governance.authority_boundaries.*', 'boundary', 'authority boundary'),
    ...named('spec.mcp_servers.*.name', 'server', 'MCP server'),
    ...document.at('secrets.*').map(({ key, keyRange }) => ({
      name: key,
      detail: 'secret',
      kind: 'secret' as const,
      range: keyRange,
      selection: keyRange,
      children: [],
    })),
  ]
}
