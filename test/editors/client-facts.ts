/**
 * What clients of the protocol say of themselves, and in which order they end: facts of their sources, as far as a server can tell them
 * apart. Capabilities about which svc answers nothing (semantic tokens, inlay hints, hierarchies) are left out.
 * Sources: zed-industries/zed `crates/lsp/src/lsp.rs` of an earlier version; redhat-developer/lsp4ij `ClientCapabilitiesFactory`, `LanguageServerWrapper` and
 * `LSPLazyCodeActions` at d21cff9; helix-editor/helix `helix-lsp/src/client.rs` of July 2026.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ClientCapabilities, CodeActionContext } from 'vscode-languageserver-protocol/node'

export interface ClientFacts {
  readonly name: string
  /** The command that the page on editors, or the template beside it, makes the client start. */
  readonly command: (page: string) => readonly string[]
  readonly capabilities: ClientCapabilities
  /** Members of `initialize` beside capabilities, process and root. */
  readonly initialize: (root: string) => object
  /** How it asks for the fixes of a finding. */
  readonly asksForFixes: (diagnostics: CodeActionContext['diagnostics']) => CodeActionContext
  /** True if it sends `exit` at once, without the answer to `shutdown`. */
  readonly endsAtOnce: boolean
  /** Version of a text when it is opened. */
  readonly firstVersion: number
}

/** The first block of a language below a heading of a page. */
const blockBelow = (page: string, heading: string, language: string): string =>
  page.split(`\n## ${heading}\n`)[1]!.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!

interface ZedSettings {
  readonly lsp: { readonly 'yaml-language-server': { readonly binary: { path: string; arguments: string[] } } }
}

const watches = { dynamicRegistration: true, relativePatternSupport: true }
const resourceOperations = ['create', 'rename', 'delete'] as const
const folderOf = (uri: string, name: string): object => ({ workspaceFolders: [{ uri, name }] })

export const CLIENTS: readonly ClientFacts[] = [
  {
    name: 'Zed',
    command: (page) => {
      const { lsp } = JSON.parse(blockBelow(page, 'Zed', 'json')) as ZedSettings
      const { path, arguments: args } = lsp['yaml-language-server'].binary
      return [path, ...args]
    },
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      workspace: {
        configuration: true,
        didChangeWatchedFiles: watches,
        didChangeConfiguration: { dynamicRegistration: true },
        workspaceFolders: true,
        codeLens: { refreshSupport: true },
        diagnostics: { refreshSupport: true },
        workspaceEdit: { resourceOperations: [...resourceOperations], documentChanges: true },
        applyEdit: true,
      },
      textDocument: {
        codeAction: {
          codeActionLiteralSupport: { codeActionKind: { valueSet: ['refactor', 'quickfix', 'source'] } },
          dataSupport: true,
          resolveSupport: { properties: ['kind', 'diagnostics', 'isPreferred', 'disabled', 'edit', 'command'] },
        },
        hover: { contentFormat: ['markdown'] },
        rename: { prepareSupport: true, prepareSupportDefaultBehavior: 1 },
        publishDiagnostics: { relatedInformation: true, versionSupport: true },
        diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
      },
      experimental: { serverStatusNotification: true, localDocs: true },
      window: { workDoneProgress: true },
    },
    initialize: (root) => ({ ...folderOf(root, ''), clientInfo: { name: 'Zed' }, initializationOptions: null }),
    asksForFixes: (diagnostics) => ({ diagnostics }),
    endsAtOnce: true,
    firstVersion: 0,
  },
  {
    name: 'LSP4IJ in an IDE of JetBrains',
    command: () => {
      const template = readFileSync(resolve(import.meta.dirname, '../../editors/jetbrains/template.json'), 'utf8')
      return (JSON.parse(template) as { programArgs: { default: string } }).programArgs.default.split(' ')
    },
    capabilities: {
      general: { staleRequestSupport: { cancel: true, retryOnContentModified: [] }, positionEncodings: ['utf-16'] },
      workspace: {
        applyEdit: true,
        configuration: true,
        executeCommand: { dynamicRegistration: true },
        workspaceFolders: true,
        workspaceEdit: { documentChanges: true, resourceOperations: [...resourceOperations] },
        didChangeWatchedFiles: { dynamicRegistration: true },
        didChangeConfiguration: { dynamicRegistration: true },
        codeLens: { refreshSupport: true },
        diagnostics: { refreshSupport: true },
      },
      textDocument: {
        publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true },
        diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
        codeAction: {
          dynamicRegistration: true,
          codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'refactor', 'source'] } },
          dataSupport: true,
          resolveSupport: { properties: ['edit'] },
        },
        codeLens: { dynamicRegistration: true },
        hover: { dynamicRegistration: true, contentFormat: ['markdown', 'plaintext'] },
        rename: { dynamicRegistration: true, prepareSupport: true },
        documentSymbol: { dynamicRegistration: true, hierarchicalDocumentSymbolSupport: true },
      },
      window: { workDoneProgress: true, showDocument: { support: true } },
    },
    initialize: (root) => ({ ...folderOf(root, 'desk'), rootPath: new URL(root).pathname, trace: 'off' }),
    asksForFixes: (diagnostics) => ({ diagnostics, only: ['quickfix'], triggerKind: 2 }),
    endsAtOnce: false,
    firstVersion: 0,
  },
  {
    name: 'Helix',
    command: (page) => {
      const block = blockBelow(page, 'Helix', 'text')
      return [...block.matchAll(/^(?:command|args) = \[?"(.+?)"/gm)].map((found) => found[1]!)
    },
    capabilities: {
      general: { positionEncodings: ['utf-8', 'utf-32', 'utf-16'] },
      workspace: {
        configuration: true,
        didChangeConfiguration: { dynamicRegistration: false },
        workspaceFolders: true,
        applyEdit: true,
        workspaceEdit: {
          documentChanges: true,
          resourceOperations: [...resourceOperations],
          failureHandling: 'abort',
          normalizesLineEndings: false,
        },
        didChangeWatchedFiles: watches,
        diagnostics: { refreshSupport: true },
      },
      textDocument: {
        hover: { contentFormat: ['markdown'] },
        rename: { prepareSupport: true },
        codeAction: {
          codeActionLiteralSupport: { codeActionKind: { valueSet: ['', 'quickfix', 'refactor', 'source'] } },
          isPreferredSupport: true,
          resolveSupport: { properties: ['edit', 'command'] },
        },
        diagnostic: { dynamicRegistration: false, relatedDocumentSupport: true },
        publishDiagnostics: { versionSupport: true },
        documentSymbol: { hierarchicalDocumentSymbolSupport: false },
      },
      window: { workDoneProgress: true },
    },
    initialize: () => ({ workspaceFolders: [], clientInfo: { name: 'helix', version: '25.07' } }),
    asksForFixes: (diagnostics) => ({ diagnostics, triggerKind: 1 }),
    endsAtOnce: true,
    firstVersion: 0,
  },
  {
    name: 'an editor that opened one file',
    command: () => ['svc', 'lsp'],
    capabilities: {},
    initialize: () => ({ rootUri: null, workspaceFolders: null }),
    asksForFixes: (diagnostics) => ({ diagnostics }),
    endsAtOnce: false,
    firstVersion: 1,
  },
]
