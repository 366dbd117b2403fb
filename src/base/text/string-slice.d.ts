/**
 * Text is cut with `cutText` or `shortenText`: `slice` can split a pair of code units, and what stores or receives the text refuses the half.
 * A `slice` from the start to a fixed end is such a cut, unless the end is so small that the text is a digest, a date or an id.
 * The type checker picks the first signature that fits, so that exactly these calls are deprecated; the linter refuses them.
 */
interface String {
  /** @deprecated Cut text with `cutText` or `shortenText` of `base/text/cut-text.ts`. */
  slice<const End extends number>(start: 0, end: FixedTextEnd<End>): string
  /** @deprecated Cut text with `cutText` or `shortenText` of `base/text/cut-text.ts`. */
  substring(start: number, end?: number): string
}

/** The number itself where it is a literal of at least 25; nothing else fits. */
type FixedTextEnd<End extends number> = number extends End
  ? never
  : `${End}` extends `-${string}` | `${Digit}` | `1${Digit}` | `2${0 | 1 | 2 | 3 | 4}`
    ? never
    : End

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
