/** What an agent may do, as a read-only text beside its document. */
import * as vscode from 'vscode'
import { ask } from './program.ts'

const SCHEME = 'svc-matrix'

interface Compiled {
  readonly matrix: readonly { readonly agent: string; readonly rows: readonly Row[] }[]
}

interface Row {
  readonly tool: string
  readonly kind: 'tool' | 'agent'
  readonly decision: string
  readonly by: string
  readonly when: string
}

/** Shows the matrix of the document that is open, or of the one that a lens names, and renews it at each save. */
export function showsMatrix(): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>()
  const shown = new Map<string, vscode.Uri>()
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: ({ query, fragment }, token) => textOf(vscode.Uri.file(query), fragment, token),
    }),
    vscode.workspace.onDidSaveTextDocument(() => {
      for (const uri of shown.values()) changed.fire(uri)
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => void shown.delete(uri.toString())),
    vscode.commands.registerCommand('svc.showMatrix', async (agent = '', document?: string) => {
      const source = document === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(document)
      if (source === undefined)
        return void vscode.window.showInformationMessage('Open an Agent or Bundle document first.')
      const path = vscode.workspace.asRelativePath(source).replace(/\.ya?ml$/, ' may do')
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: source.fsPath, fragment: agent })
      shown.set(uri.toString(), uri)
      await vscode.window.showTextDocument(uri, {
        viewColumn: vscode.ViewColumn.Beside,
        preview: true,
        preserveFocus: true,
      })
    }),
  )
}

/** @param agent comes first */
async function textOf(source: vscode.Uri, agent: string, token: vscode.CancellationToken): Promise<string> {
  const folder = vscode.workspace.getWorkspaceFolder(source)
  if (folder === undefined) return 'The document is in no folder of this window.'
  try {
    const { matrix } = await ask<Compiled>(folder, ['compile', source.fsPath, '--matrix'], token)
    const calling = matrix.filter(({ rows }) => rows.length > 0)
    const [first, others] = [
      calling.filter((each) => each.agent === agent),
      calling.filter((each) => each.agent !== agent),
    ]
    return [...first, ...others].map((each) => `${each.agent}\n${tableOf(each.rows)}`).join('\n\n')
  } catch (error) {
    return (error as Error).message
  }
}

/** Columns as wide as their widest text; the call stands in its first row. */
function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row, at) => {
    const isFirst = rows[at - 1]?.tool !== row.tool
    return [isFirst ? `${row.kind === 'agent' ? '→ ' : ''}${row.tool}` : '', row.decision, row.when, row.by]
  })
  const widths = [0, 1, 2].map((column) => Math.max(0, ...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) => `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
}
