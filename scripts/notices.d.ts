interface BuildOutputs {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >
}
export interface BundledLibrary {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}
/** Each library with at least one byte in an output, sorted by name. */
export function bundledLibraries(metafiles: readonly BuildOutputs[], root: string): readonly BundledLibrary[]
export function noticesOf(libraries: readonly BundledLibrary[]): string
