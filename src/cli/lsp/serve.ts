/** The language server. It answers editors with the same rules, schemas and readers as `svc lint`. */
import type { Connection, DidChangeWorkspaceFoldersParams } from 'vscode-languageserver/node'
import { FIX_ALL, serveAssistance } from './assistance.ts'
import type { LspProject } from './folder.ts'
import { createLspFolders } from './folders.ts'
import { serveNavigation } from './navigation.ts'
import { changedText } from './text.ts'

/**
 * Answers the connection until it ends.
 * @param open finds the project of a directory that the editor opened; undefined where the editor names none
 */
export function serveLanguage(connection: Connection, open: (directory: string | undefined) => LspProject): void {
  const folders = createLspFolders(connection, open)
  const checkAll = (): void => folders.checkAll()
  let [canCreate, canWatch] = [false, false]

  // oxlint-disable-next-line typescript/no-deprecated -- Older editors send nothing else.
  connection.onInitialize(({ workspaceFolders, rootUri, capabilities }) => {
    const { documentChanges, resourceOperations } = capabilities.workspace?.workspaceEdit ?? {}
    canWatch = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    canCreate = documentChanges === true && resourceOperations?.includes('create') === true
    const opened = workspaceFolders?.map(({ uri }) => uri) ?? []
    for (const uri of opened.length > 0 ? opened : [rootUri ?? '']) folders.add(uri)
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
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => folders.closeText(uri))
  connection.onDidSaveTextDocument(checkAll)
  connection.onDidChangeWatchedFiles(checkAll)
  connection.onDidChangeConfiguration(checkAll)
  connection.onShutdown(() => {
    for (const folder of folders.all()) folder.stop()
  })

  serveAssistance(connection, folders, () => canCreate)
  serveNavigation(
    connection,
    (uri) => folders.homeOf(uri),
    () => folders.all(),
  )
}

/** Files on which a finding may depend. */
const watchers = [{ globPattern: '**/{*.yaml,*.yml,*.json,*.md,*.txt,*.lock,.svcignore}' }]
