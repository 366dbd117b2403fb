/** The documents of a publication with those that somebody edits in their place, as a workspace. */
import { loadFiles } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'

export interface EditedTexts {
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** Paths of `files` that were edited. */
  readonly edited: readonly string[]
}

export const openEditedWorkspace = ({ files }: Pick<EditedTexts, 'files'>): Workspace =>
  loadFiles(Object.fromEntries(files.map(({ path, text }) => [path, text])))
