/** The language server. It answers editors with the same rules, schemas and readers as `svc lint`. */
import { fileURLToPath } from 'node:url'
import type {
  CodeAction,
  CodeActionKind,
  Connection,
  DidChangeWorkspaceFoldersParams,
} from 'vscode-languageserver/node'
import { completeAt } from '../../documents/lsp/complete.ts'
import { hoverAt } from '../../documents/lsp/hover.ts'
import { unresolvedToolFixes } from '../../documents/lsp/unresolved-tool.ts'
import { quickFix, toItem } from './answers.ts'
import { createFolder, fileOf, type LspFolder, type OpenedText, type LspProject } from './folder.ts'
import { serveNavigation, type TextHome } from './navigation.ts'
import { changedText, editsBetween, offsetAt, positionAt, toRange, rangesTouch } from './text.ts'

/** All safe fixes of a file at once, as `svc lint --fix` makes them. */
const FIX_ALL = 'source.fixAll.svc'

/**
 * Answers the connection until it ends.
 * @param open finds the project of a directory that the editor opened; undefined where the editor names none
 */
export function serveLanguage(connection: Connection, open: (directory: string | undefined) => LspProject): void {
  const folders = new Map<string, LspFolder>()
  const documents = new Map<string, OpenedText>()
  let [canCreate, canWatch] = [false, false]

  /** The innermost project around a document; the first project for documents outside all of them and for unsaved ones. */
  const folderOf = (uri: string): LspFolder | undefined => {
    const all = [...new Set(folders.values())].filter((each) => each.pathOf(uri) !== undefined)
    const around = fileOf(uri) === undefined ? [] : all.filter((each) => !/^\.\.(?:\/|$)/.test(each.pathOf(uri)!))
    return around.sort((one, other) => other.root.length - one.root.length)[0] ?? all[0]
  }
  const homeOf = (uri: string): TextHome | undefined => {
    const folder = folderOf(uri)
    const path = folder?.pathOf(uri)
    return folder === undefined || path === undefined ? undefined : { folder, path, text: folder.textOf(path) }
  }
  const checkAllFolders = (): void => {
    for (const folder of folders.values()) folder.scheduleCheck()
  }
  const updateText = (opened: OpenedText): void => {
    // Kept even without a folder: a folder opened later may contain it.
    documents.set(opened.uri, opened)
    const home = homeOf(opened.uri)
    if (home === undefined) return
    home.folder.texts.set(home.path, opened)
    home.folder.scheduleCheck()
  }

  /** Folders of the same project share one entry: the root is the directory of the project file. */
  const addFolder = (uri: string): void => {
    const project = open(uri.startsWith('file:') ? fileURLToPath(uri) : undefined)
    const same = [...folders.values()].find(({ root }) => root === project.root)
    folders.set(uri, same ?? createFolder(project, connection, (folder, uri) => folderOf(uri) === folder))
  }
  const removeFolder = (uri: string): void => {
    const folder = folders.get(uri)
    folders.delete(uri)
    if (folder !== undefined && ![...folders.values()].includes(folder)) void folder.close()
  }
  /** Assigns open documents to their nearest project again, after folders were added or removed. */
  const reassignDocuments = (): void => {
    for (const { texts } of folders.values()) texts.clear()
    for (const opened of documents.values()) updateText(opened)
    checkAllFolders()
  }

  connection.onInitialize(({ workspaceFolders, rootUri, capabilities }) => {
    const { documentChanges, resourceOperations } = capabilities.workspace?.workspaceEdit ?? {}
    canWatch = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    canCreate = documentChanges === true && resourceOperations?.includes('create') === true
    const opened = workspaceFolders?.map(({ uri }) => uri) ?? []
    for (const uri of opened.length > 0 ? opened : [rootUri ?? '']) addFolder(uri)
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
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    }
  })
  connection.onInitialized(() => {
    checkAllFolders()
    // Registered by method name: the library's own event would register the capability a second time.
    connection.onNotification('workspace/didChangeWorkspaceFolders', ({ event }: DidChangeWorkspaceFoldersParams) => {
      for (const { uri } of event.removed) removeFolder(uri)
      for (const { uri } of event.added) addFolder(uri)
      reassignDocuments()
    })
    // Files also change outside the editor, for example when a branch is checked out.
    if (canWatch)
      connection
        .sendRequest('client/registerCapability', {
          registrations: [{ id: 'files', method: 'workspace/didChangeWatchedFiles', registerOptions: { watchers } }],
        })
        .catch((error: Error) => connection.console.warn(error.message))
  })
  connection.onDidOpenTextDocument(({ textDocument: { uri, text, version } }) => updateText({ uri, text, version }))
  connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) =>
    updateText({ uri, version, text: contentChanges.reduce(changedText, documents.get(uri)?.text ?? '') }),
  )
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    const home = homeOf(uri)
    documents.delete(uri)
    home?.folder.texts.delete(home.path)
    home?.folder.scheduleCheck()
  })
  connection.onDidSaveTextDocument(checkAllFolders)
  connection.onDidChangeWatchedFiles(checkAllFolders)
  connection.onDidChangeConfiguration(checkAllFolders)
  connection.onShutdown(() => {
    for (const folder of folders.values()) folder.stop()
  })

  connection.onCompletion(async ({ textDocument: { uri }, position }) => {
    // Uses the last check: completion must not wait for the rules while the user types.
    const checked = await folderOf(uri)?.lastCheck()
    const home = homeOf(uri)
    if (checked === undefined || home === undefined) return []
    const { path, text } = home
    const { start, end, items } = completeAt(checked.workspace, path, text, offsetAt(text, position), checked.providers)
    const range = { start: positionAt(text, start), end: positionAt(text, end) }
    const space = text[start - 1] === ':' ? ' ' : ''
    const quote = /["']/.exec(text[start] ?? '')?.[0] ?? ''
    return items.map((each, at) => toItem(each, range, space, quote, at))
  })
  connection.onHover(async ({ textDocument: { uri }, position }) => {
    const checked = await folderOf(uri)?.checkNow()
    const home = homeOf(uri)
    if (home === undefined) return null
    const { path, text } = home
    const value = hoverAt(
      text,
      offsetAt(text, position),
      (checked?.findings ?? []).filter((each) => each.path === path),
    )
    return value === undefined ? null : { contents: { kind: 'markdown', value } }
  })
  connection.onCodeAction(async ({ textDocument: { uri }, range, context: { only } }) => {
    const checked = await folderOf(uri)?.checkNow()
    const home = homeOf(uri)
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
            actions.push(...quickFix(each, fix, folder.uriOf, isThere, canCreate))
    // Only on request: it edits places outside the visible range.
    if (isWanted(FIX_ALL, only ?? [])) {
      const edits = editsBetween(text, await folder.fixedText(path))
      if (edits.length > 0)
        actions.push({ title: 'Fix all that svc can fix', kind: FIX_ALL, edit: { changes: { [uri]: edits } } })
    }
    return actions
  })
  serveNavigation(connection, homeOf, () => new Set(folders.values()))
  connection.onDocumentFormatting(async ({ textDocument: { uri } }) => {
    const home = homeOf(uri)
    if (home === undefined) return []
    const { formatDocuments } = await import('../../documents/fmt/format.ts')
    const formatted = formatDocuments({ path: home.path, text: home.text })
    return 'text' in formatted ? editsBetween(home.text, formatted.text) : []
  })
}

/** Action kinds are hierarchical: a request for `source` includes `source.fixAll`. */
const isWanted = (kind: CodeActionKind, only: readonly CodeActionKind[]): boolean =>
  only.some((each) => kind === each || kind.startsWith(`${each}.`))

/** Files on which a finding may depend. */
const watchers = [{ globPattern: '**/{*.yaml,*.yml,*.json,*.md,*.txt,*.lock,.svcignore}' }]
