/** Limits of an Agent that are annotations with whole numbers, each with its maximum number of digits. */
export const WHOLE_LIMITS = {
  'svc/max-tool-calls': 4,
  'svc/max-tokens-per-session': 12,
  'svc/max-runs-per-session': 6,
} as const

export type WholeLimit = keyof typeof WHOLE_LIMITS

/** The number in such an annotation, or its fault. */
export function readWholeLimit(
  name: WholeLimit,
  text: string,
): { readonly value: number } | { readonly problem: string } {
  const digits = WHOLE_LIMITS[name]
  if (/^[1-9]\d*$/.test(text) && text.length <= digits) return { value: Number(text) }
  return { problem: `${name} is a whole number from 1 to ${'9'.repeat(digits)}, as text.` }
}
