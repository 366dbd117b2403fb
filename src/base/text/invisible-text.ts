/**
 * Characters that a reader does not see, by Unicode's own tables: a model reads what they spell. Some are part of how visible
 * text is written, such as the joiner of an emoji family; those count only where nothing visible needs them.
 */

import { EMOJI_SELECTOR, INVISIBLE_CHARACTERS, invisibleExcept } from './unseen-character.ts'

const EMOJI_JOINER = String.raw`(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)\u200d(?=\p{Extended_Pictographic})`

/** The flags of England, Scotland and Wales end with letters that are not drawn. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].flatMap((region) => {
  const tags = Array.from(region, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).concat('\u{e007f}')
  return tags.map((tag, at) => `(?<=\u{1f3f4}${tags.slice(0, at).join('')})${tag}(?=${tags.slice(at + 1).join('')})`)
})

const JOINED_SCRIPTS = [
  'Arabic Balinese Bengali Brahmi Chakma Devanagari Grantha Gujarati Gurmukhi Javanese Kannada Khmer Malayalam Mandaic',
  'Mongolian Myanmar Newa Nko Oriya Phags_Pa Sharada Sinhala Sundanese Syriac Tamil Telugu Tibetan Tirhuta',
]
  .flatMap((line) => line.split(' '))
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('')

/** A letter or mark of these scripts, which have invisible characters of their own. */
const letterOf = (scripts: string): string => String.raw`(?=[\p{L}\p{M}])(?![${INVISIBLE_CHARACTERS}])[${scripts}]`

/** Between letters whose shapes it joins or parts. */
const SCRIPT_JOINER = String.raw`(?<=${letterOf(JOINED_SCRIPTS)})[\u200c\u200d](?=${letterOf(JOINED_SCRIPTS)})`
const SCRIPT_SELECTOR = String.raw`(?<=${letterOf(String.raw`\p{Script=Mongolian}`)})[\u180b-\u180f]`
const RIGHT_TO_LEFT = String.raw`\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}`
const MARKS = String.raw`[\u200e\u200f\u061c]`
/** Beside a letter of a script that is written from right to left. */
const DIRECTION_MARK = `(?<=${letterOf(RIGHT_TO_LEFT)})${MARKS}|${MARKS}(?=${letterOf(RIGHT_TO_LEFT)})`

/** One invisible character that no visible text around it needs, as a pattern with the flag `u`. */
export const HIDDEN_CHARACTER = invisibleExcept(
  EMOJI_SELECTOR,
  EMOJI_JOINER,
  ...FLAGS,
  SCRIPT_JOINER,
  SCRIPT_SELECTOR,
  DIRECTION_MARK,
)
