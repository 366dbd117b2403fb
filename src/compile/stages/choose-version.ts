/** Chooses the version of a Tool or Policy document that a reference means. Source: docs/design/bundles-and-authority.md#references */
import { maxSatisfying } from 'semver'
import type { JsonObject } from '../../base/json/json.ts'
import { isIdentified, type Document, type IdentifiedDocument } from '../../documents/text/document.ts'
import { didYouMean, nearestCandidate } from '../../documents/text/suggest.ts'
import { digestOfDocument, type PublishedDocument } from '../../spec/snapshot.ts'
import { idOfDocument, type CompileState } from '../state/state.ts'

/** Documents of the same bundle. */
export const bundleDocuments = (
  state: CompileState,
  from: Document,
  kind: 'Tool' | 'Policy',
  id: string,
): readonly IdentifiedDocument[] =>
  state.workspace
    .publishedTogether(from)
    .filter(isIdentified)
    .filter((each) => each.kind === kind && each.identity.id === id)

/**
 * The version chosen by the lock while it satisfies the range, else the highest. A yanked version is used only if it is
 * pinned or named exactly.
 */
export function chooseVersion(
  state: CompileState,
  kind: 'Tool' | 'Policy',
  id: string,
  all: readonly PublishedDocument[],
  range: string,
): PublishedDocument | undefined {
  const pinned = state.pins.get(`${kind} ${id}`) ?? []
  const versions = all
    .filter(({ version, yanked }) => yanked !== true || pinned.includes(version) || version === range)
    .map((each) => each.version)
  const version =
    maxSatisfying(
      versions.filter((each) => pinned.includes(each)),
      range,
    ) ?? maxSatisfying(versions, range)
  const found = all.find((each) => each.version === version)
  if (!found) return undefined
  const { yanked: _, yankReason: _reason, ...chosen } = found
  return chosen
}

/** Says that there is no document of the id, with a similar id of the bundle. */
export function explainMissing(state: CompileState, kind: 'Tool' | 'Policy', id: string, from: Document): string {
  const ids = state.workspace.publishedTogether(from).flatMap((each) => (each.kind === kind ? idOfDocument(each) : []))
  return `There is no ${kind} document ${id}, neither in the bundle nor published.${didYouMean(nearestCandidate(id, ids))}`
}

export function toPublished(kind: 'Tool' | 'Policy', id: string, version: string, document: object): PublishedDocument {
  const content = document as JsonObject
  const published = { kind, id, version, document: content }
  return { ...published, digest: digestOfDocument(published) }
}
