/** Renames a document: its identity, and every place that names it by its id. */
import type { TextEdit } from '../text/diagnostic.ts'
import { isIdentified, type IdentifiedDocument } from '../text/document.ts'
import type { TextSpan } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { namePlaceAt, placesOfTargets, type NamePlace } from './name-places.ts'

export type RenameResult = { readonly edits: readonly TextEdit[] } | { readonly problem: string }

/** The name at an offset that `renameAt` can change, with its text; undefined where no document is named. */
export function renameableAt(
  workspace: Workspace,
  path: string,
  offset: number,
): { readonly range: TextSpan; readonly text: string } | undefined {
  const place = namePlaceAt(workspace, path, offset)
  const document = place && documentAt(place)
  if (place === undefined || document === undefined) return undefined
  const { id, name } = document.identity
  return { range: place.range, text: place.spelling === 'name' ? name : id }
}

/**
 * All versions of the document in its bundle get the new name, since a reference may mean any of them. Paths and the lock file
 * stay as they are: the file keeps its name, and `svc compile` writes the lock.
 * @param written a name, which keeps the namespace, or `namespace.name`
 */
export function renameAt(workspace: Workspace, path: string, offset: number, written: string): RenameResult {
  const place = namePlaceAt(workspace, path, offset)
  const document = place && documentAt(place)
  if (document === undefined) return { problem: 'Only the name of a document can be changed here.' }
  const { kind, identity: old } = document
  const id = written.includes('.') ? written : `${old.namespace}.${written}`
  const name = id.slice(id.lastIndexOf('.') + 1)
  const namespace = id.slice(0, id.lastIndexOf('.'))
  if (!SAFE_ID.test(id) || /^(?:true|false|null)$/i.test(name))
    return { problem: `"${written}" cannot be a name: write letters, digits, "-" and "_", beginning with a letter.` }
  const [taken] = id === old.id ? [] : workspace.find(document, kind, id)
  if (taken !== undefined) return { problem: `${taken.path} already holds the ${kind} ${id}.` }
  const renamed = workspace.find(document, kind, old.id)
  const edits = placesOfTargets(workspace, renamed)
    .filter(({ spelling }) => spelling !== undefined)
    .map(({ path, range, spelling }) => ({ path, range, text: spelling === 'name' ? name : id }))
  const namespaces = namespace === old.namespace ? [] : renamed.flatMap((each) => each.texts('metadata.namespace'))
  return { edits: [...edits, ...namespaces.map(({ path, range }) => ({ path, range, text: namespace }))] }
}

/** Parts that YAML reads as texts without quotes. */
const SAFE_ID = /^[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+$/

/** The document that is spelled out at a place: all that it may mean have the same id. */
const documentAt = ({ targets, spelling }: NamePlace): IdentifiedDocument | undefined =>
  spelling === undefined ? undefined : targets.filter((target) => typeof target !== 'string').find(isIdentified)
