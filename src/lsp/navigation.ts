/** Definitions, references, renames and symbols, as the protocol asks for them. */
import {
  LSPErrorCodes,
  ResponseError,
  type Connection,
  type DocumentSymbol,
  type Location,
  type SymbolInformation,
  type SymbolKind,
  type TextDocumentPositionParams,
} from 'vscode-languageserver/node'
import { definitionAt, referencesAt, type DefinitionPlace } from '../documents/lsp/definitions.ts'
import { renameableAt, renameAt } from '../documents/lsp/rename.ts'
import { findSymbols, symbolsIn, type OutlineSymbol } from '../documents/lsp/symbols.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import { toChanges } from './answers.ts'
import type { LspFolder } from './folder.ts'
import { offsetAt, toRange } from './text.ts'

/** The project of an open text, and the text's place in it. */
export interface TextHome {
  readonly folder: LspFolder
  readonly path: string
  readonly text: string
}

/**
 * @param homeOf undefined for a text that belongs to no project
 * @param hasTree true where the editor takes symbols inside others, once it has connected
 */
export function serveNavigation(
  connection: Connection,
  homeOf: (uri: string) => TextHome | undefined,
  folders: () => Iterable<LspFolder>,
  hasTree: () => boolean,
): void {
  /** Answers from the texts as they are now; undefined for a text without a project. */
  const atPosition = async <T>(
    { textDocument: { uri }, position }: TextDocumentPositionParams,
    answer: (workspace: Workspace, home: TextHome, offset: number) => T,
  ): Promise<T | undefined> => {
    const checked = await homeOf(uri)?.folder.checkNow()
    const home = homeOf(uri)
    if (checked === undefined || home === undefined) return undefined
    return answer(checked.workspace, home, offsetAt(home.text, position))
  }
  const toLocations = (places: readonly DefinitionPlace[], { uriOf }: LspFolder): Location[] =>
    places.map(({ path, range }) => ({ uri: uriOf(path), range: toRange(range) }))

  connection.onDefinition(
    async (params) =>
      (await atPosition(params, (workspace, { folder, path }, offset) =>
        toLocations(definitionAt(workspace, path, offset), folder),
      )) ?? [],
  )
  connection.onReferences(
    async (params) =>
      (await atPosition(params, (workspace, { folder, path }, offset) =>
        toLocations(referencesAt(workspace, path, offset, params.context.includeDeclaration), folder),
      )) ?? [],
  )
  connection.onPrepareRename(
    async (params) =>
      (await atPosition(params, (workspace, { path }, offset) => {
        const found = renameableAt(workspace, path, offset)
        return found && { range: toRange(found.range), placeholder: found.text }
      })) ?? null,
  )
  connection.onRenameRequest(
    async (params) =>
      (await atPosition(params, (workspace, { folder, path }, offset) => {
        const result = renameAt(workspace, path, offset, params.newName.trim())
        return 'problem' in result
          ? new ResponseError<void>(LSPErrorCodes.RequestFailed, result.problem)
          : { changes: toChanges(result.edits, folder.uriOf) }
      })) ?? null,
  )
  connection.onDocumentSymbol(async ({ textDocument: { uri } }) => {
    const checked = await homeOf(uri)?.folder.checkNow()
    const home = homeOf(uri)
    if (checked === undefined || home === undefined) return []
    const symbols = symbolsIn(checked.workspace, home.path)
    return hasTree() ? symbols.map(toSymbol) : symbols.flatMap((each) => toFlatSymbols(each, uri))
  })
  connection.onWorkspaceSymbol(async ({ query }) => {
    const found = await Promise.all(
      [...folders()].map(async (folder) => {
        const checked = await folder.checkNow()
        if (checked === undefined) return []
        return findSymbols(checked.workspace, query).map(({ name, kind, path, selection }) => ({
          name,
          kind: SYMBOL_KIND[kind],
          containerName: path,
          location: { uri: folder.uriOf(path), range: toRange(selection) },
        }))
      }),
    )
    return found.flat()
  })
}

const toSymbol = ({ name, detail, kind, range, selection, children }: OutlineSymbol): DocumentSymbol => ({
  name,
  detail,
  kind: SYMBOL_KIND[kind],
  range: toRange(range),
  selectionRange: toRange(selection),
  children: children.map(toSymbol),
})

/** The symbol and those inside it, each with the name of the one around it. */
const toFlatSymbols = (symbol: OutlineSymbol, uri: string, containerName?: string): SymbolInformation[] => [
  {
    name: symbol.name,
    kind: SYMBOL_KIND[symbol.kind],
    ...(containerName !== undefined && { containerName }),
    location: { uri, range: toRange(symbol.range) },
  },
  ...symbol.children.flatMap((each) => toFlatSymbols(each, uri, symbol.name)),
]

/** Class, Function, Interface and Package for documents; Function, Class, Interface, Key and Module for their parts. */
const SYMBOL_KIND = {
  Agent: 5,
  Tool: 12,
  Policy: 11,
  Bundle: 4,
  tool: 12,
  agent: 5,
  boundary: 11,
  secret: 20,
  server: 2,
} as const satisfies Record<OutlineSymbol['kind'], SymbolKind>
