/**
 * Splits a text with placeholders in braces: `refund:{args.order}`.
 * @yields texts and placeholders in order; undefined for a brace without a partner, which ends the parts
 */
export function* splitBraces(text: string): Generator<string | { readonly placeholder: string } | undefined, void> {
  for (const [whole, placeholder] of text.matchAll(/[^{}]+|\{([^{}]*)\}|[{}]/g)) {
    if (placeholder !== undefined) yield { placeholder }
    else if (whole !== '{' && whole !== '}') yield whole
    else return yield undefined
  }
}
