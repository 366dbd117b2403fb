/**
 * Characters without ink, by Unicode's own tables. The page of the console loads this file, so what only the linter asks of the
 * text around such a character stands in `invisible-text.ts`.
 */

/** No ink, by a property of the character itself. */
export const INVISIBLE_CHARACTERS = [
  String.raw`\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Cf}`,
  // Blank, but letters or symbols: blank braille, the filler of the Khitan script and a musical rest without a shape.
  String.raw`\u2800\u{16fe4}\u{1d159}`,
].join('')

/** Format characters that are drawn, around the digits after them: Unicode's Prepended_Concatenation_Mark. */
const DRAWN = String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`

/** A single selector that makes an emoji, or a text, of the symbol before it. */
export const EMOJI_SELECTOR = String.raw`(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)`

/** One invisible character, except where it is one of those that the patterns name. */
export const invisibleExcept = (...needed: readonly string[]): string =>
  `(?!${needed.join('|')})(?![${DRAWN}])[${INVISIBLE_CHARACTERS}]`

/**
 * As `HIDDEN_CHARACTER`, for text that is shown beside other text: joiners and marks count too, because they change how what
 * stands around them is drawn. Only a selector behind its emoji does not.
 */
export const UNSEEN_CHARACTER = invisibleExcept(EMOJI_SELECTOR)
