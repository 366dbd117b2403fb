interface BuildOutputs {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >
}
export function noticesOf(metafiles: readonly BuildOutputs[], root: string): string
