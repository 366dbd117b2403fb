/** The projects that an editor has open, and its open documents, each with the innermost project around it. */
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Connection } from 'vscode-languageserver/node'
import { createFolder, fileOf, type LspFolder, type OpenedText, type LspProject } from './folder.ts'
import type { TextHome } from './navigation.ts'

export interface LspFolders {
  /** The innermost project around a document; the first project for documents outside all of them and for unsaved ones. */
  folderOf(uri: string): LspFolder | undefined
  /** The project of an open text, and the text's place in it; undefined for a text that belongs to no project. */
  homeOf(uri: string): TextHome | undefined
  /** Each project once. */
  all(): ReadonlySet<LspFolder>
  textOf(uri: string): string
  /** Opens a text or replaces it, and checks its project. */
  updateText(opened: OpenedText): void
  closeText(uri: string): void
  checkAll(): void
  /** @param uris of the folders that the editor named; where it named none, each open text brings its own project */
  begin(uris: readonly string[]): void
  /** Removes and adds folders, and assigns the open documents to their nearest project again. */
  change(removed: readonly string[], added: readonly string[]): void
}

/**
 * @param open finds the project of a directory that the editor opened; undefined where the editor names none
 * @param onChecked told after each check of a project
 */
export function createLspFolders(
  connection: Connection,
  open: (directory: string | undefined) => LspProject,
  onChecked: () => void,
): LspFolders {
  const folders = new Map<string, LspFolder>()
  const documents = new Map<string, OpenedText>()
  let areNamed = false

  const folderOf = (uri: string): LspFolder | undefined => {
    const all = [...new Set(folders.values())].filter((each) => each.pathOf(uri) !== undefined)
    const isAround = (each: LspFolder): boolean => !/^\.\.(?:\/|$)/.test(each.pathOf(uri) ?? '..')
    const around = fileOf(uri) === undefined ? [] : all.filter(isAround)
    return around.sort((one, other) => other.root.length - one.root.length)[0] ?? all[0]
  }
  const homeOf = (uri: string): TextHome | undefined => {
    const folder = folderOf(uri)
    const path = folder?.pathOf(uri)
    return folder === undefined || path === undefined ? undefined : { folder, path, text: folder.textOf(path) }
  }
  const updateText = (opened: OpenedText): void => {
    // Kept even without a folder: a folder opened later may contain it.
    documents.set(opened.uri, opened)
    if (!areNamed) addAround(opened.uri)
    const home = homeOf(opened.uri)
    if (home === undefined) return
    home.folder.texts.set(home.path, opened)
    home.folder.scheduleCheck()
  }
  const checkAll = (): void => {
    for (const folder of folders.values()) folder.scheduleCheck()
  }
  /** Folders of the same project share one entry: the root is the directory of the project file. */
  const add = (uri: string): void => {
    const project = open(uri.startsWith('file:') ? fileURLToPath(uri) : undefined)
    const same = [...folders.values()].find(({ root }) => root === project.root)
    folders.set(uri, same ?? createFolder(project, connection, (folder, uri) => folderOf(uri) === folder, onChecked))
  }
  const addAround = (uri: string): void => {
    const file = fileOf(uri)
    const directory = file === undefined ? '' : pathToFileURL(dirname(file)).href
    if (!folders.has(directory)) add(directory)
  }
  const remove = (uri: string): void => {
    const folder = folders.get(uri)
    folders.delete(uri)
    if (folder !== undefined && ![...folders.values()].includes(folder)) void folder.close()
  }

  return {
    folderOf,
    homeOf,
    all: () => new Set(folders.values()),
    textOf: (uri) => documents.get(uri)?.text ?? '',
    updateText,
    closeText(uri) {
      const home = homeOf(uri)
      documents.delete(uri)
      home?.folder.texts.delete(home.path)
      home?.folder.scheduleCheck()
    },
    checkAll,
    begin(uris) {
      areNamed = uris.length > 0
      uris.forEach(add)
    },
    change(removed, added) {
      areNamed ||= added.length > 0
      removed.forEach(remove)
      added.forEach(add)
      for (const { texts } of folders.values()) texts.clear()
      for (const opened of documents.values()) updateText(opened)
      checkAll()
    },
  }
}
