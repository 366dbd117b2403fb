/** Lenses: above each binding of an agent, what is decided about its calls. */
import type { CodeLens, Connection } from 'vscode-languageserver/node'
import { authorityIn, describeRows } from './authority.ts'
import type { CheckedFolder } from './folder.ts'
import type { LspFolders } from './folders.ts'
import { toRange } from './text.ts'

export interface ServedLenses {
  /** Asks the editor to ask again where what it shows is no longer true: a policy of another file has changed. */
  refresh(): void
  forget(uri: string): void
}

/**
 * @param matrixCommand the editor's command that shows the matrix of an agent, or '', once it has connected
 * @param canRefresh true where the editor asks again on request, once it has connected
 */
export function serveLenses(
  connection: Connection,
  folders: LspFolders,
  matrixCommand: () => string,
  canRefresh: () => boolean,
): ServedLenses {
  /** The lenses of a text at the last check, as JSON. */
  const shown = new Map<string, string>()
  const lensesOf = async (uri: string, checked: CheckedFolder | undefined): Promise<CodeLens[]> => {
    const path = folders.homeOf(uri)?.path
    if (checked === undefined || path === undefined) return []
    const calls = await authorityIn(checked.workspace, path, checked.guardrails)
    return calls.map(({ agent, range, rows }) => ({
      range: toRange(range),
      command: { title: describeRows(rows), command: matrixCommand(), arguments: [agent, uri] },
    }))
  }
  const isOld = async ([uri, seen]: [string, string]): Promise<boolean> =>
    JSON.stringify(await lensesOf(uri, await folders.folderOf(uri)?.lastCheck())) !== seen
  connection.onCodeLens(async ({ textDocument: { uri } }) => {
    const lenses = await lensesOf(uri, await folders.folderOf(uri)?.checkNow())
    shown.set(uri, JSON.stringify(lenses))
    return lenses
  })
  const refresh = async (): Promise<void> => {
    const old = await Promise.all([...shown].map(isOld))
    if (old.includes(true)) await connection.sendRequest('workspace/codeLens/refresh')
  }
  return {
    refresh: () => {
      if (canRefresh()) refresh().catch((error: Error) => connection.console.warn(error.message))
    },
    forget: (uri) => shown.delete(uri),
  }
}
