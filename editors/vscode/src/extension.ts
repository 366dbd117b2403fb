/** One language server a folder that has a `svc.config.yaml`, the test view, and what an agent may do. */
import * as vscode from 'vscode'
import { LanguageClient, type Executable } from 'vscode-languageclient/node'
import { showsMatrix } from './matrix.ts'
import { findFault, programOf } from './program.ts'
import { showsTests } from './tests.ts'

const clients = new Map<string, LanguageClient>()

export function activate(context: vscode.ExtensionContext): void {
  context.subscriptions.push(
    showsMatrix(),
    showsTests(),
    vscode.commands.registerCommand('svc.restart', restart),
    vscode.workspace.onDidChangeWorkspaceFolders(async ({ added, removed }) => {
      await Promise.all([...removed.map(stop), ...added.map(start)])
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('svc.path')) await restart()
    }),
  )
  // Not waited for: the message about a missing program stays until somebody closes it.
  for (const folder of vscode.workspace.workspaceFolders ?? []) void start(folder)
}

export async function deactivate(): Promise<void> {
  await Promise.all([...clients.values()].map((client) => client.stop()))
}

async function restart(): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? []
  await Promise.all(folders.map(stop))
  await Promise.all(folders.map(start))
}

async function start(folder: vscode.WorkspaceFolder): Promise<void> {
  const [config] = await vscode.workspace.findFiles(
    new vscode.RelativePattern(folder, '**/svc.config.yaml'),
    '**/node_modules/**',
    1,
  )
  if (config === undefined || clients.has(folder.uri.toString())) return
  const fault = await findFault(folder)
  if (fault !== undefined) return await tellFault(folder, fault)
  const server: Executable = {
    command: programOf(folder),
    args: ['lsp'],
    options: { cwd: folder.uri.fsPath, shell: process.platform === 'win32' },
  }
  const client = new LanguageClient('svc', `svc (${folder.name})`, server, {
    documentSelector: ['yaml', 'json', 'markdown', 'plaintext'].map((language) => ({
      language,
      scheme: 'file',
      pattern: `${folder.uri.fsPath}/**/*`,
    })),
    workspaceFolder: folder,
    initializationOptions: { matrixCommand: 'svc.showMatrix' },
  })
  clients.set(folder.uri.toString(), client)
  await client.start()
}

async function tellFault({ name }: vscode.WorkspaceFolder, fault: string): Promise<void> {
  const remedy = 'Install svc in the folder or on the PATH, or set svc.path.'
  const chosen = await vscode.window.showErrorMessage(`svc does not start in ${name}. ${remedy} (${fault})`, 'Settings')
  if (chosen) await vscode.commands.executeCommand('workbench.action.openSettings', 'svc.path')
}

async function stop(folder: vscode.WorkspaceFolder): Promise<void> {
  const client = clients.get(folder.uri.toString())
  clients.delete(folder.uri.toString())
  await client?.stop()
}
