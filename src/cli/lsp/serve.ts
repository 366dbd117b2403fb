/** The language server: what an editor asks, answered from the same rules, schemas and readers as `svc lint`. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type {
  CodeAction,
  CompletionItem,
  CompletionItemKind,
  Connection,
  Diagnostic as LspDiagnostic,
  DiagnosticSeverity,
  Location,
  Position,
  Range,
  TextEdit,
} from 'vscode-languageserver/node'
import type { Diagnostic } from '../../documents/diagnostic.ts'
import { groupBy } from '../../documents/group.ts'
import { complete, type Completion } from '../../documents/lsp/complete.ts'
import { define } from '../../documents/lsp/define.ts'
import { hover } from '../../documents/lsp/hover.ts'
import type { Span } from '../../documents/source.ts'
import type { Workspace } from '../../documents/workspace.ts'

/** What comes within this time is one stroke of typing. */
const SETTLE_MS = 120

export interface Checked {
  readonly workspace: Workspace
  readonly findings: readonly Diagnostic[]
  /** Provider names of the project configuration. */
  readonly providers: readonly string[]
}

/**
 * Reads and checks the project. A failure is told to the editor and leaves what was known.
 * @param texts that stand in for files, by path relative to the root
 */
export type Check = (texts: Readonly<Record<string, string>>) => Promise<Checked>

/** Answers the connection until it ends. `open` is told the directory that the editor has opened, where it says one. */
export function serveLanguage(
  connection: Connection,
  open: (directory: string | undefined) => Promise<{ readonly root: string; readonly check: Check }>,
): void {
  let project: Awaited<ReturnType<typeof open>> | undefined
  const texts = new Map<string, { readonly uri: string; readonly text: string }>()
  let known: Checked | undefined
  /** Where something was told of. */
  let told = new Set<string>()
  let dirty = true
  let [canCreate, canWatch] = [false, false]
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()

  const pathOf = (uri: string): string | undefined => placeOf(project!.root, uri)
  const uriOf = (path: string): string => texts.get(path)?.uri ?? pathToFileURL(join(project!.root, path)).href
  const textOf = (path: string): string => texts.get(path)?.text ?? known?.workspace.source(path).text ?? ''

  /** What has not been saved has no name yet. */
  const isTold = ({ rule, path }: Diagnostic): boolean =>
    rule !== 'id/file-name' || texts.get(path)?.uri.startsWith('untitled:') !== true

  const refresh = async (): Promise<void> => {
    if (!dirty || project === undefined) return
    dirty = false
    try {
      const checked = await project.check(Object.fromEntries([...texts].map(([path, { text }]) => [path, text])))
      known = { ...checked, findings: checked.findings.filter(isTold) }
    } catch (error) {
      connection.console.error(error instanceof Error ? error.message : String(error))
      return
    }
    const found = groupBy(known.findings, ({ path }) => uriOf(path))
    for (const uri of new Set([...told, ...found.keys()]))
      await connection.sendDiagnostics({
        uri,
        diagnostics: (found.get(uri) ?? []).map((each) => toDiagnostic(each, uriOf)),
      })
    told = new Set(found.keys())
  }
  /** What is known of the texts as they are now. */
  const settled = async (): Promise<Checked | undefined> => {
    clearTimeout(timer)
    working = working.then(refresh)
    await working
    return known
  }
  const changed = (): void => {
    dirty = true
    clearTimeout(timer)
    timer = setTimeout(() => void settled(), SETTLE_MS)
  }

  connection.onInitialize(async ({ workspaceFolders, rootUri, capabilities }) => {
    const { documentChanges, resourceOperations } = capabilities.workspace?.workspaceEdit ?? {}
    canWatch = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    canCreate = documentChanges === true && resourceOperations?.includes('create') === true
    const uri = workspaceFolders?.[0]?.uri ?? rootUri ?? ''
    project = await open(uri.startsWith('file:') ? fileURLToPath(uri) : undefined)
    return {
      serverInfo: { name: 'svc' },
      capabilities: {
        textDocumentSync: { openClose: true, change: 1, save: true },
        completionProvider: { triggerCharacters: [':', ' ', '-', '.', '/', '@'] },
        hoverProvider: true,
        definitionProvider: true,
        codeActionProvider: { codeActionKinds: ['quickfix'] },
        documentFormattingProvider: true,
      },
    }
  })
  connection.onInitialized(() => {
    changed()
    // Files change without an editor, too: a branch is checked out, a file is renamed.
    if (canWatch)
      connection
        .sendRequest('client/registerCapability', {
          registrations: [{ id: 'files', method: 'workspace/didChangeWatchedFiles', registerOptions: { watchers } }],
        })
        .catch((error: Error) => connection.console.warn(error.message))
  })
  connection.onDidOpenTextDocument(({ textDocument: { uri, text } }) => {
    const path = pathOf(uri)
    if (path === undefined) return
    texts.set(path, { uri, text })
    changed()
  })
  connection.onDidChangeTextDocument(({ textDocument: { uri }, contentChanges }) => {
    const [path, last] = [pathOf(uri), contentChanges.at(-1)]
    if (path === undefined || last === undefined) return
    texts.set(path, { uri, text: last.text })
    changed()
  })
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    const path = pathOf(uri)
    if (path === undefined) return
    texts.delete(path)
    changed()
  })
  connection.onDidSaveTextDocument(changed)
  connection.onDidChangeWatchedFiles(changed)
  connection.onDidChangeConfiguration(changed)
  connection.onShutdown(() => clearTimeout(timer))

  connection.onCompletion(async ({ textDocument: { uri }, position }) => {
    // Half a word must not wait for the rules: documents around it are as they were.
    const checked = known ?? (await settled())
    const path = pathOf(uri)
    if (checked === undefined || path === undefined) return []
    const text = textOf(path)
    const { start, end, items } = complete(checked.workspace, path, text, offsetAt(text, position), checked.providers)
    const range = { start: positionAt(text, start), end: positionAt(text, end) }
    const space = text[start - 1] === ':' ? ' ' : ''
    const quote = /["']/.exec(text[start] ?? '')?.[0] ?? ''
    return items.map((each, at) => toItem(each, range, space, quote, at))
  })
  connection.onHover(async ({ textDocument: { uri }, position }) => {
    const checked = await settled()
    const path = pathOf(uri)
    if (path === undefined) return null
    const text = textOf(path)
    const value = hover(
      text,
      offsetAt(text, position),
      (checked?.findings ?? []).filter((each) => each.path === path),
    )
    return value === undefined ? null : { contents: { kind: 'markdown', value } }
  })
  connection.onDefinition(async ({ textDocument: { uri }, position }) => {
    const checked = await settled()
    const path = pathOf(uri)
    if (checked === undefined || path === undefined) return []
    return define(checked.workspace, path, offsetAt(textOf(path), position)).map((each): Location => ({
      uri: uriOf(each.path),
      range: toRange(each.range),
    }))
  })
  connection.onCodeAction(async ({ textDocument: { uri }, range }) => {
    const checked = await settled()
    const path = pathOf(uri)
    return (checked?.findings ?? [])
      .filter((each) => each.path === path && touches(toRange(each.range), range))
      .flatMap((each) => quickFix(each, uriOf, (path) => checked!.workspace.files.paths.includes(path), canCreate))
  })
  connection.onDocumentFormatting(async ({ textDocument: { uri } }) => {
    const path = pathOf(uri)
    if (path === undefined) return []
    const before = textOf(path)
    const { format } = await import('../../documents/fmt/format.ts')
    const formatted = format({ path, text: before })
    if (!('text' in formatted) || !formatted.changed) return []
    return [
      { range: { start: { line: 0, character: 0 }, end: positionAt(before, before.length) }, newText: formatted.text },
    ]
  })
}

/** All that a finding may depend on. */
const watchers = [{ globPattern: '**/{*.yaml,*.yml,*.json,*.md,*.txt,*.lock,.svcignore}' }]

/**
 * Where a document stands below the root: that of a file, or where a text that has not been saved would be one. Undefined for
 * others, such as the past version of a file beside which it is compared.
 */
function placeOf(root: string, uri: string): string | undefined {
  const { protocol, host, pathname } = new URL(uri)
  if (protocol === 'untitled:' && !pathname.startsWith('/')) {
    const name = decodeURIComponent(pathname)
    return /\.(?:ya?ml|json)$/.test(name) ? name : `${name}.yaml`
  }
  if ((protocol !== 'file:' && protocol !== 'untitled:') || (host !== '' && sep === '/')) return undefined
  return relative(root, fileURLToPath(protocol === 'file:' ? uri : `file://${pathname}`)).replaceAll('\\', '/')
}

/** @param canCreate true where the editor makes files that an edit asks for; else what needs one is not offered */
function quickFix(
  finding: Diagnostic,
  uriOf: (path: string) => string,
  isThere: (path: string) => boolean,
  canCreate: boolean,
): CodeAction[] {
  const { fix } = finding
  if (fix === undefined || fix.edits.length === 0) return []
  const changes: Record<string, TextEdit[]> = {}
  for (const { path, range, text } of fix.edits)
    (changes[uriOf(path)] ??= []).push({ range: toRange(range), newText: text })
  const missing = [...new Set(fix.edits.map(({ path }) => path).filter((path) => !isThere(path)))].map(uriOf)
  if (missing.length > 0 && !canCreate) return []
  return [
    {
      title: fix.description.replace(/\.$/, ''),
      kind: 'quickfix',
      diagnostics: [toDiagnostic(finding, uriOf)],
      isPreferred: fix.unsafe !== true,
      edit:
        missing.length === 0
          ? { changes }
          : {
              documentChanges: [
                ...missing.map((uri) => ({ kind: 'create' as const, uri })),
                ...Object.entries(changes).map(([uri, edits]) => ({ textDocument: { uri, version: null }, edits })),
              ],
            },
    },
  ]
}

const SEVERITY = { error: 1, warning: 2, info: 3 } as const satisfies Record<Diagnostic['severity'], DiagnosticSeverity>

function toDiagnostic(finding: Diagnostic, uriOf: (path: string) => string): LspDiagnostic {
  const { rule, severity, message, why, fix, range, related } = finding
  const lines = [message, ...(why === undefined ? [] : [why]), ...(fix === undefined ? [] : [fix.description])]
  return {
    range: toRange(range),
    severity: SEVERITY[severity],
    code: rule,
    source: 'svc',
    message: lines.join('\n'),
    relatedInformation: related.map((each) => ({
      location: { uri: uriOf(each.path), range: toRange(each.range) },
      message: each.message,
    })),
  }
}

/** Property, Value, Reference, File, Constant. */
const ITEM_KIND = { key: 10, value: 12, document: 18, file: 17, secret: 21 } as const satisfies Record<
  Completion['kind'],
  CompletionItemKind
>

const toItem = (each: Completion, range: Range, space: string, quote: string, at: number): CompletionItem => ({
  label: each.label,
  // Editors compare it with what is written there.
  ...(quote !== '' && { filterText: quote + each.label }),
  kind: ITEM_KIND[each.kind],
  // The order of the schema, not of the alphabet.
  sortText: String(at).padStart(4, '0'),
  textEdit: { range, newText: space + (each.insert ?? each.label) },
  ...(each.detail !== undefined && { detail: each.detail }),
  ...(each.documentation !== undefined && { documentation: { kind: 'markdown', value: each.documentation } }),
})

const toRange = ({ start, end }: Span): Range => ({
  start: { line: start.line - 1, character: start.column - 1 },
  end: { line: end.line - 1, character: end.column - 1 },
})

const touches = (a: Range, b: Range): boolean => !isBefore(a.end, b.start) && !isBefore(b.end, a.start)

const isBefore = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character)

/** Lines end at LF, CR LF and CR, in the protocol as in YAML; characters are UTF-16 code units in both. */
function offsetAt(text: string, { line, character }: Position): number {
  const breaks = /\r\n|\r|\n/g
  for (let at = 0; at < line; at++) if (breaks.exec(text) === null) return text.length
  const start = breaks.lastIndex
  const end = breaks.exec(text)?.index ?? text.length
  return Math.min(start + character, end)
}

function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: lines.length - 1, character: lines.at(-1)!.length }
}
