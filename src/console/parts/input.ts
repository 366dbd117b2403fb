/** Hands over what was typed or chosen in an input. */
export const takeText =
  (take: (text: string) => void) =>
  ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement }): void =>
    take(currentTarget.value)
