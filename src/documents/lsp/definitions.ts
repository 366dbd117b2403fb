/** Where a name is declared, and where it is used. */
import type { TextSpan } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { namePlaceAt, pathOfFileTarget, placesOfTargets } from './name-places.ts'

export interface DefinitionPlace {
  readonly path: string
  readonly range: TextSpan
}

/**
 * The document, file, secret or server behind the reference at an offset; empty where there is none. An authority boundary
 * leads to the policies that are linked to it, and a policy's link back to the boundary.
 */
export function definitionAt(workspace: Workspace, path: string, offset: number): DefinitionPlace[] {
  const place = namePlaceAt(workspace, path, offset)
  if (place === undefined) return []
  const isBoundary = place.targets.some((target) => typeof target === 'string' && target.startsWith('boundary:'))
  const wantsDeclaration = !(isBoundary && place.isDeclaration)
  const files = place.targets.map(pathOfFileTarget).filter((file) => file !== undefined)
  return [
    ...placesOfTargets(workspace, place.targets).filter(({ isDeclaration }) => isDeclaration === wantsDeclaration),
    ...files.map((file) => ({ path: file, range: workspace.source(file).span(0, 0) })),
  ].map(({ path, range }) => ({ path, range }))
}

/** Every place that references the target at an offset. */
export function referencesAt(
  workspace: Workspace,
  path: string,
  offset: number,
  includeDeclaration: boolean,
): DefinitionPlace[] {
  const place = namePlaceAt(workspace, path, offset)
  return placesOfTargets(workspace, place?.targets ?? [])
    .filter(({ isDeclaration }) => includeDeclaration || !isDeclaration)
    .map(({ path, range }) => ({ path, range }))
}
