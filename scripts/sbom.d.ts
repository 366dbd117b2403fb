import type { BundledLibrary } from './notices.js'

interface Component {
  readonly name: string
  readonly version: string
  readonly purl?: string
}
interface ComponentList {
  readonly components: readonly Component[]
}
export function bundledParts(
  program: { readonly name: string; readonly version: string },
  libraries: readonly BundledLibrary[],
): ComponentList
/** The list with each part of the other that it lacks. */
export function mergeParts(list: ComponentList, other: ComponentList): ComponentList
