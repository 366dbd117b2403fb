/** The language server. It answers editors with the same rules, schemas and readers as `svc lint`. */
import type {
  Connection,
  DidChangeWorkspaceFoldersParams,
  CodeAction,
  CodeActionKind,
} from 'vscode-languageserver/node'
import type { LspProject } from './folder.ts'
import { createLspFolders, type LspFolders } from './folders.ts'
import { serveNavigation } from './navigation.ts'
import { changedText, editsBetween, offsetAt, positionAt, rangesTouch, toRange } from './text.ts'
import { completeAt } from '../documents/lsp/complete.ts'
import { hoverAt } from '../documents/lsp/hover.ts'
import { unresolvedToolFixes } from '../documents/lsp/unresolved-tool.ts'
import { quickFix, toItem } from './answers.ts'
import { authorityIn, tableOfRows } from './authority.ts'
import { serveLenses } from './lenses.ts'

/**
 * Answers the connection until it ends.
 * @param open finds the project of a directory that the editor opened; undefined where the editor names none
 */
export function serveLanguage(connection: Connection, open: (directory: string | undefined) => LspProject): void {
  const folders = createLspFolders(connection, open, () => lenses.refresh())
  const checkAll = (): void => folders.checkAll()
  let [canCreate, canWatch] = [false, false]
  /** The editor's command that shows the matrix of an agent; a lens is text alone without it. */
  let matrixCommand = ''
  let [canRefresh, hasTree] = [false, false]

  // oxlint-disable-next-line typescript/no-deprecated -- Older editors send nothing else.
  connection.onInitialize(({ workspaceFolders, rootUri, capabilities, initializationOptions }) => {
    const { matrixCommand: given } = (initializationOptions ?? {}) as { readonly matrixCommand?: unknown }
    if (typeof given === 'string') matrixCommand = given
    const { documentChanges, resourceOperations } = capabilities.workspace?.workspaceEdit ?? {}
    hasTree = capabilities.textDocument?.documentSymbol?.hierarchicalDocumentSymbolSupport === true
    canRefresh = capabilities.workspace?.codeLens?.refreshSupport === true
    canWatch = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    canCreate = documentChanges === true && resourceOperations?.includes('create') === true
    const opened = workspaceFolders?.map(({ uri }) => uri) ?? []
    folders.begin(opened.length > 0 || rootUri == null || rootUri === '' ? opened : [rootUri])
    return {
      serverInfo: { name: 'svc' },
      capabilities: {
        textDocumentSync: { openClose: true, change: 2, save: true },
        completionProvider: { triggerCharacters: [':', ' ', '-', '.', '/', '@'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        codeActionProvider: { codeActionKinds: ['quickfix', FIX_ALL] },
        documentFormattingProvider: true,
        codeLensProvider: {},
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    }
  })
  connection.onInitialized(() => {
    checkAll()
    // Registered by method name: the library's own event would register the capability a second time.
    connection.onNotification('workspace/didChangeWorkspaceFolders', ({ event }: DidChangeWorkspaceFoldersParams) => {
      folders.change(
        event.removed.map(({ uri }) => uri),
        event.added.map(({ uri }) => uri),
      )
    })
    // Files also change outside the editor, for example when a branch is checked out.
    if (canWatch)
      connection
        .sendRequest('client/registerCapability', {
          registrations: [{ id: 'files', method: 'workspace/didChangeWatchedFiles', registerOptions: { watchers } }],
        })
        .catch((error: Error) => connection.console.warn(error.message))
  })
  connection.onDidOpenTextDocument(({ textDocument: { uri, text, version } }) =>
    folders.updateText({ uri, text, version }),
  )
  connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) =>
    folders.updateText({ uri, version, text: contentChanges.reduce(changedText, folders.textOf(uri)) }),
  )
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    lenses.forget(uri)
    folders.closeText(uri)
  })
  connection.onDidSaveTextDocument(checkAll)
  connection.onDidChangeWatchedFiles(checkAll)
  connection.onDidChangeConfiguration(checkAll)
  connection.onShutdown(() => {
    for (const folder of folders.all()) folder.stop()
  })

  serveAssistance(connection, folders, () => canCreate)
  const lenses = serveLenses(
    connection,
    folders,
    () => matrixCommand,
    () => canRefresh,
  )
  serveNavigation(
    connection,
    (uri) => folders.homeOf(uri),
    () => folders.all(),
    () => hasTree,
  )
}

/** Files on which a finding may depend. */
const watchers = [{ globPattern: '**/{*.yaml,*.yml,*.json,*.md,*.txt,*.lock,.svcignore}' }]

/** All safe fixes of a file at once, as `svc lint --fix` makes them. */
const FIX_ALL = 'source.fixAll.svc'

/** @param canCreate true where the editor can create files; known once it has connected */
function serveAssistance(connection: Connection, folders: LspFolders, canCreate: () => boolean): void {
  connection.onCompletion(async ({ textDocument: { uri }, position }) => {
    // Uses the last check: completion must not wait for the rules while the user types.
    const checked = await folders.folderOf(uri)?.lastCheck()
    const home = folders.homeOf(uri)
    if (checked === undefined || home === undefined) return []
    const { path, text } = home
    const { start, end, items } = completeAt(checked.workspace, path, text, offsetAt(text, position), checked.providers)
    const range = { start: positionAt(text, start), end: positionAt(text, end) }
    const space = text[start - 1] === ':' ? ' ' : ''
    const quote = /["']/.exec(text[start] ?? '')?.[0] ?? ''
    return items.map((each, at) => toItem(each, range, space, quote, at))
  })
  connection.onHover(async ({ textDocument: { uri }, position }) => {
    const checked = await folders.folderOf(uri)?.checkNow()
    const home = folders.homeOf(uri)
    if (home === undefined) return null
    const { path, text } = home
    const offset = offsetAt(text, position)
    const page = hoverAt(
      text,
      offset,
      (checked?.findings ?? []).filter((each) => each.path === path),
    )
    const calls = checked && (await authorityIn(checked.workspace, path, checked.guardrails))
    const call = calls?.find(({ range }) => range.start.offset <= offset && offset <= range.end.offset)
    const parts = [...(call ? [tableOfRows(call.rows)] : []), ...(page === undefined ? [] : [page])]
    return parts.length === 0 ? null : { contents: { kind: 'markdown', value: parts.join('\n\n---\n\n') } }
  })
  connection.onCodeAction(async ({ textDocument: { uri }, range, context: { only } }) => {
    const checked = await folders.folderOf(uri)?.checkNow()
    const home = folders.homeOf(uri)
    if (checked === undefined || home === undefined) return []
    const { folder, path, text } = home
    const isThere = (path: string): boolean => checked.workspace.files.paths.includes(path)
    const actions: CodeAction[] = []
    if (isWanted('quickfix', only ?? ['quickfix']))
      for (const each of checked.findings)
        if (each.path === path && rangesTouch(toRange(each.range), range))
          for (const fix of [
            ...(each.fix === undefined ? [] : [each.fix]),
            ...unresolvedToolFixes(checked.workspace, each),
          ])
            actions.push(...quickFix(each, fix, folder.uriOf, isThere, canCreate()))
    // Only on request: it edits places outside the visible range.
    if (isWanted(FIX_ALL, only ?? [])) {
      const edits = editsBetween(text, await folder.fixedText(path))
      if (edits.length > 0)
        actions.push({ title: 'Fix all that svc can fix', kind: FIX_ALL, edit: { changes: { [uri]: edits } } })
    }
    return actions
  })
  connection.onDocumentFormatting(async ({ textDocument: { uri } }) => {
    const checked = await folders.folderOf(uri)?.checkNow()
    const home = folders.homeOf(uri)
    // Editors that start one server for all YAML ask for files of others, too.
    if (home === undefined || checked?.workspace.read.includes(home.path) !== true) return []
    const { formatDocuments } = await import('../documents/fmt/format.ts')
    const formatted = formatDocuments({ path: home.path, text: home.text })
    return 'text' in formatted ? editsBetween(home.text, formatted.text) : []
  })
}

/** Action kinds are hierarchical: a request for `source` includes `source.fixAll`. */
const isWanted = (kind: CodeActionKind, only: readonly CodeActionKind[]): boolean =>
  only.some((each) => kind === each || kind.startsWith(`${each}.`))
