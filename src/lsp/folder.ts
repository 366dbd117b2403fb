/** One project that an editor has open: its unsaved texts, and the findings of the last check. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Connection } from 'vscode-languageserver/node'
import type { FileContents } from '../documents/text/files.ts'
import { groupBy } from '../base/values/collections.ts'
import type { Diagnostic } from '../documents/text/diagnostic.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import { fixProject } from '../documents/lint/fix-project.ts'
import { toDiagnostic } from './answers.ts'

/** Waits this long after a change: a check per key stroke would lag behind the typing. */
const SETTLE_MS = 120

export interface CheckedFolder {
  readonly workspace: Workspace
  readonly findings: readonly Diagnostic[]
  /** Provider names of the project configuration. */
  readonly providers: readonly string[]
  /** Paths of policies that apply to every agent of the project. */
  readonly guardrails: readonly string[]
}

export interface LspProject {
  /** Absolute. */
  readonly root: string
  /**
   * Reads and checks the project. A failure is logged in the editor and keeps the last findings.
   * @param texts unsaved texts that replace files, by path relative to the root
   */
  readonly check: (texts: FileContents) => Promise<CheckedFolder>
}

export interface OpenedText {
  readonly uri: string
  readonly text: string
  /** The editor's version number of the text. */
  readonly version: number
}

export interface LspFolder {
  readonly root: string
  /** Path of a document relative to the root; undefined for one that belongs to no project. */
  pathOf(uri: string): string | undefined
  readonly uriOf: (path: string) => string
  textOf(path: string): string
  /** Open documents of this project, by path. The caller edits the map and then calls `scheduleCheck`. */
  readonly texts: Map<string, OpenedText>
  scheduleCheck(): void
  /** Checks the current texts unless that is done already; undefined if no check has ever succeeded. */
  checkNow(): Promise<CheckedFolder | undefined>
  /** The last check, even if the texts have changed since. */
  lastCheck(): Promise<CheckedFolder | undefined>
  /** The text of a file after all safe fixes that edit only this file. */
  fixedText(path: string): Promise<string>
  /** Stops, and clears the reported findings in the editor. */
  close(): Promise<void>
  /** Ends all checks; findings that were sent stay in the editor. */
  stop(): void
}

/**
 * @param owns true for a document that belongs to this folder, and not to a folder inside or around it
 * @param onChecked told after each check whose findings were sent
 */
export function createFolder(
  { root, check }: LspProject,
  connection: Connection,
  owns: (folder: LspFolder, uri: string) => boolean,
  onChecked: () => void,
): LspFolder {
  const texts: LspFolder['texts'] = new Map()
  let known: CheckedFolder | undefined
  /** Documents with findings in the editor. */
  let reportedUris = new Set<string>()
  let [isStale, open] = [true, true]
  let timer: NodeJS.Timeout | undefined
  let pendingCheck: Promise<void> = Promise.resolve()

  const overlay = (): FileContents => Object.fromEntries([...texts].map(([path, { text }]) => [path, text]))
  /** An unsaved text has no file name to check yet. */
  const isReported = ({ rule, path }: Diagnostic): boolean =>
    rule !== 'id/file-name' || texts.get(path)?.uri.startsWith('untitled:') !== true

  const refresh = async (): Promise<void> => {
    if (!isStale) return
    isStale = false
    const versions = new Map([...texts.values()].map(({ uri, version }) => [uri, version]))
    try {
      const checked = await check(overlay())
      known = { ...checked, findings: checked.findings.filter(isReported) }
    } catch (error) {
      connection.console.error(error instanceof Error ? error.message : String(error))
      return
    }
    if (!open) return
    const found = groupBy(known.findings, ({ path }) => folder.uriOf(path))
    // Open texts get an empty list, too: editors wait for an answer to each version.
    const concerned = [...new Set([...reportedUris, ...found.keys(), ...versions.keys()])].filter((uri) =>
      owns(folder, uri),
    )
    reportedUris = new Set(concerned.filter((uri) => found.has(uri)))
    for (const uri of concerned) {
      const version = versions.get(uri)
      await connection.sendDiagnostics({
        uri,
        ...(version !== undefined && { version }),
        diagnostics: (found.get(uri) ?? []).map((each) => toDiagnostic(each, folder.uriOf)),
      })
    }
    onChecked()
  }

  const folder: LspFolder = {
    root,
    texts,
    pathOf: (uri) => projectPath(root, uri),
    uriOf: (path) => texts.get(path)?.uri ?? pathToFileURL(join(root, path)).href,
    textOf: (path) => texts.get(path)?.text ?? known?.workspace.source(path).text ?? '',
    scheduleCheck() {
      isStale = true
      clearTimeout(timer)
      timer = setTimeout(() => void folder.checkNow(), SETTLE_MS)
    },
    async checkNow() {
      clearTimeout(timer)
      pendingCheck = pendingCheck.then(refresh)
      await pendingCheck
      return known
    },
    lastCheck: async () => known ?? (await folder.checkNow()),
    async fixedText(path) {
      const before = folder.textOf(path)
      const { texts: fixed } = await fixProject(async (given) => {
        const { workspace, findings } = await check(given)
        return { workspace, findings: findings.map((each) => withoutOtherFiles(each, path)) }
      }, overlay())
      return fixed[path] ?? before
    },
    async close() {
      folder.stop()
      for (const uri of reportedUris) await connection.sendDiagnostics({ uri, diagnostics: [] })
    },
    stop() {
      open = false
      clearTimeout(timer)
    },
  }
  return folder
}

/** Drops the fix of a finding if it edits another file. */
function withoutOtherFiles(finding: Diagnostic, path: string): Diagnostic {
  const { fix, ...bare } = finding
  return fix?.edits.every((edit) => edit.path === path) === false ? bare : finding
}

/**
 * Path of a document relative to the root; an unsaved text counts as a file in the root. Undefined for other schemes, such as
 * the `git:` version of a file in a comparison.
 */
function projectPath(root: string, uri: string): string | undefined {
  const file = fileOf(uri)
  if (file !== undefined) return relative(root, file).replaceAll('\\', '/')
  const { protocol, pathname } = new URL(uri)
  if (protocol !== 'untitled:' || pathname.startsWith('/')) return undefined
  const name = decodeURIComponent(pathname)
  return /\.(?:ya?ml|json)$/.test(name) ? name : `${name}.yaml`
}

/** Path of the file behind a document, or of the file that an `untitled:` document with a path will become. */
export function fileOf(uri: string): string | undefined {
  const { protocol, host, pathname } = new URL(uri)
  if ((protocol !== 'file:' && protocol !== 'untitled:') || (host !== '' && sep === '/')) return undefined
  if (protocol === 'file:') return fileURLToPath(uri)
  return pathname.startsWith('/') ? fileURLToPath(`file://${pathname}`) : undefined
}
