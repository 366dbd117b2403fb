/** One project that an editor has open: the texts that stand in for its files, and what is known of them. */
import { join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Connection } from 'vscode-languageserver/node'
import type { FileContents } from '../../documents/text/files.ts'
import { groupBy } from '../../documents/text/group.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { fixProject } from '../lint/lint-fix.ts'
import { toDiagnostic } from './answers.ts'

/** What comes within this time is one stroke of typing. */
const SETTLE_MS = 120

export interface CheckedFolder {
  readonly workspace: Workspace
  readonly findings: readonly Diagnostic[]
  /** Provider names of the project configuration. */
  readonly providers: readonly string[]
}

export interface LspProject {
  /** Absolute. */
  readonly root: string
  /**
   * Reads and checks the project. A failure is told to the editor and leaves what was known.
   * @param texts that stand in for files, by path relative to the root
   */
  readonly check: (texts: FileContents) => Promise<CheckedFolder>
}

export interface OpenedText {
  readonly uri: string
  readonly text: string
  /** Of the text, as the editor counts. */
  readonly version: number
}

export interface LspFolder {
  readonly root: string
  /** Where a document stands below the root; undefined for one that has no place in any project. */
  pathOf(uri: string): string | undefined
  readonly uriOf: (path: string) => string
  textOf(path: string): string
  /** The open documents that belong to it, by path. They are told of by the caller, who says `changed` then. */
  readonly texts: Map<string, OpenedText>
  changed(): void
  /** What is known of the texts as they are now; undefined where they could never be checked. */
  settled(): Promise<CheckedFolder | undefined>
  /** What is known, even if something has been typed since. */
  latest(): Promise<CheckedFolder | undefined>
  /** The text of a file after all safe fixes that touch no other. */
  mended(path: string): Promise<string>
  /** Takes back what was told. */
  close(): Promise<void>
  /** Checks nothing any more. */
  stop(): void
}

/** @param owns true for a document that belongs to this folder, and not to one inside or around it */
export function createFolder(
  { root, check }: LspProject,
  connection: Connection,
  owns: (folder: LspFolder, uri: string) => boolean,
): LspFolder {
  const texts: LspFolder['texts'] = new Map()
  let known: CheckedFolder | undefined
  /** Where something was told of. */
  let told = new Set<string>()
  let [dirty, open] = [true, true]
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()

  const overlay = (): FileContents => Object.fromEntries([...texts].map(([path, { text }]) => [path, text]))
  /** What has not been saved has no name yet. */
  const isTold = ({ rule, path }: Diagnostic): boolean =>
    rule !== 'id/file-name' || texts.get(path)?.uri.startsWith('untitled:') !== true

  const refresh = async (): Promise<void> => {
    if (!dirty) return
    dirty = false
    const versions = new Map([...texts.values()].map(({ uri, version }) => [uri, version]))
    try {
      const checked = await check(overlay())
      known = { ...checked, findings: checked.findings.filter(isTold) }
    } catch (error) {
      connection.console.error(error instanceof Error ? error.message : String(error))
      return
    }
    if (!open) return
    const found = groupBy(known.findings, ({ path }) => folder.uriOf(path))
    // An editor that waits for what is said of a text that it shows is told, too, that there is nothing to say.
    const concerned = [...new Set([...told, ...found.keys(), ...versions.keys()])].filter((uri) => owns(folder, uri))
    told = new Set(concerned.filter((uri) => found.has(uri)))
    for (const uri of concerned) {
      const version = versions.get(uri)
      await connection.sendDiagnostics({
        uri,
        ...(version !== undefined && { version }),
        diagnostics: (found.get(uri) ?? []).map((each) => toDiagnostic(each, folder.uriOf)),
      })
    }
  }

  const folder: LspFolder = {
    root,
    texts,
    pathOf: (uri) => placeOf(root, uri),
    uriOf: (path) => texts.get(path)?.uri ?? pathToFileURL(join(root, path)).href,
    textOf: (path) => texts.get(path)?.text ?? known?.workspace.source(path).text ?? '',
    changed() {
      dirty = true
      clearTimeout(timer)
      timer = setTimeout(() => void folder.settled(), SETTLE_MS)
    },
    async settled() {
      clearTimeout(timer)
      working = working.then(refresh)
      await working
      return known
    },
    latest: async () => known ?? (await folder.settled()),
    async mended(path) {
      const before = folder.textOf(path)
      const { texts: fixed } = await fixProject(async (given) => {
        const { workspace, findings } = await check(given)
        return { workspace, findings: findings.map((each) => within(each, path)) }
      }, overlay())
      return fixed[path] ?? before
    },
    async close() {
      folder.stop()
      for (const uri of told) await connection.sendDiagnostics({ uri, diagnostics: [] })
    },
    stop() {
      open = false
      clearTimeout(timer)
    },
  }
  return folder
}

/** The finding without a fix that writes another file. */
function within(finding: Diagnostic, path: string): Diagnostic {
  const { fix, ...bare } = finding
  return fix?.edits.every((edit) => edit.path === path) === false ? bare : finding
}

/**
 * Where a document stands below the root: that of a file, or where a text that has not been saved would be one. Undefined for
 * others, such as the past version of a file beside which it is compared.
 */
function placeOf(root: string, uri: string): string | undefined {
  const file = fileOf(uri)
  if (file !== undefined) return relative(root, file).replaceAll('\\', '/')
  const { protocol, pathname } = new URL(uri)
  if (protocol !== 'untitled:' || pathname.startsWith('/')) return undefined
  const name = decodeURIComponent(pathname)
  return /\.(?:ya?ml|json)$/.test(name) ? name : `${name}.yaml`
}

/** The file that a document is, or will be when it is saved where its name says. */
export function fileOf(uri: string): string | undefined {
  const { protocol, host, pathname } = new URL(uri)
  if ((protocol !== 'file:' && protocol !== 'untitled:') || (host !== '' && sep === '/')) return undefined
  if (protocol === 'file:') return fileURLToPath(uri)
  return pathname.startsWith('/') ? fileURLToPath(`file://${pathname}`) : undefined
}
