/** What the editor shows while a person types: completion, hover, fixes and formatting. */
import type { CodeAction, CodeActionKind, Connection } from 'vscode-languageserver/node'
import { completeAt } from '../../documents/lsp/complete.ts'
import { hoverAt } from '../../documents/lsp/hover.ts'
import { unresolvedToolFixes } from '../../documents/lsp/unresolved-tool.ts'
import { quickFix, toItem } from './answers.ts'
import type { LspFolders } from './folders.ts'
import { editsBetween, offsetAt, positionAt, rangesTouch, toRange } from './text.ts'

/** All safe fixes of a file at once, as `svc lint --fix` makes them. */
export const FIX_ALL = 'source.fixAll.svc'

/** @param canCreate true where the editor can create files; known once it has connected */
export function serveAssistance(connection: Connection, folders: LspFolders, canCreate: () => boolean): void {
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
    const value = hoverAt(
      text,
      offsetAt(text, position),
      (checked?.findings ?? []).filter((each) => each.path === path),
    )
    return value === undefined ? null : { contents: { kind: 'markdown', value } }
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
    const home = folders.homeOf(uri)
    if (home === undefined) return []
    const { formatDocuments } = await import('../../documents/fmt/format.ts')
    const formatted = formatDocuments({ path: home.path, text: home.text })
    return 'text' in formatted ? editsBetween(home.text, formatted.text) : []
  })
}

/** Action kinds are hierarchical: a request for `source` includes `source.fixAll`. */
const isWanted = (kind: CodeActionKind, only: readonly CodeActionKind[]): boolean =>
  only.some((each) => kind === each || kind.startsWith(`${each}.`))
