/** Invisible characters, compared with a slow evaluator that knows ranges of Unicode 15.1 instead of its properties. */
import { array, assert, constantFrom, integer, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'
import { safeJson, safeText } from '../../src/base/text/escape-text.ts'
import { HIDDEN_CHARACTER } from '../../src/base/text/invisible-text.ts'
import { cases } from '../cases.ts'

/** DerivedCoreProperties.txt (Default_Ignorable_Code_Point), UnicodeData.txt (Cf), and blanks that are letters or symbols. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x13430, 0x1343f],
  [0x16fe4, 0x16fe4],
  [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
]
const isInvisible = (code: number): boolean => INVISIBLE.some(([from, to]) => code >= from && code <= to)

const PICTURES = ['❤', '👩', '👧', '🏳', '🌈', '🏴']
const PERSIAN = ['م', 'ی', 'خ']
const SKIN = '🏽'
const FLAG = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'

/** True where what stands around the character needs it. */
function isNeeded(all: readonly string[], at: number): boolean {
  const char = all[at]!
  const [before = '', after = ''] = [all[at - 1], all[at + 1]]
  const picture = (index: number): boolean => PICTURES.includes(all[index] ?? '')
  const toned = (index: number): boolean => picture(index) || (all[index] === SKIN && picture(index - 1))
  if (char === '\ufe0e' || char === '\ufe0f')
    return toned(at - 1) || (char === '\ufe0f' && before === '1' && after === '\u20e3')
  if (char === '\u200d' && PICTURES.includes(after))
    if (toned(at - 1) || (before === '\ufe0f' && picture(at - 2))) return true
  if (char === '\u200c' || char === '\u200d') return PERSIAN.includes(before) && PERSIAN.includes(after)
  if (char === '\u200e' || char === '\u200f' || char === '\u061c')
    return PERSIAN.includes(before) || PERSIAN.includes(after)
  const tags = Array.from(FLAG)
  return tags.some((tag, place) => tag === char && tags.every((each, index) => all[at - place + index] === each))
}

const hiddenBySlowReading = (text: string): string[] => {
  const all = Array.from(text)
  return all.filter((char, at) => isInvisible(char.codePointAt(0)!) && !isNeeded(all, at))
}
const HIDDEN = new RegExp(HIDDEN_CHARACTER, 'gu')
const hidden = (text: string): string[] => text.match(HIDDEN) ?? []

const invisible = integer({ min: 0, max: INVISIBLE.length - 1 }).chain((row) =>
  integer({ min: INVISIBLE[row]![0], max: INVISIBLE[row]![1] }).map((code) => String.fromCodePoint(code)),
)
const anyText = array(
  oneof(
    constantFrom('a', ' ', '1', '\u20e3', SKIN, FLAG, '\ufe0f', '\ufe0e', '\u200d', '\u200c', '\u200f', 'é', 'あ'),
    constantFrom(...PICTURES),
    constantFrom(...PERSIAN),
    invisible,
  ),
  { maxLength: 8 },
).map((parts) => parts.join(''))

test('hidden is what Unicode calls invisible and nothing visible needs', () => {
  assert(
    property(anyText, (text) => {
      expect(hidden(text)).toEqual(hiddenBySlowReading(text))
    }),
    { numRuns: cases(5000) },
  )
})

test('every code point is judged alike, alone and between letters', () => {
  // Assigned after Unicode 15.1, or a mark that is drawn around the digits after it.
  const wrong: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const char = String.fromCodePoint(code)
    if (hidden(`a${char}b`).length > 0 !== isInvisible(code)) wrong.push(code.toString(16))
  }
  expect(wrong).toEqual([])
})

/** One line a form that people write. */
test.each([
  ['a red heart', '\u2764\ufe0f'],
  ['a heart as text', '\u2764\ufe0e'],
  ['a family', '\u{1f469}\u200d\u{1f467}'],
  ['a health worker with a skin tone', '\u{1f469}\u{1f3fd}\u200d\u2695\ufe0f'],
  ['a rainbow flag', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
  ['the flag of England', FLAG],
  ['a keycap', '1\ufe0f\u20e3'],
  ['a Persian word', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
  ['a Sinhala conjunct', '\u0dc1\u0dca\u200d\u0dbb\u0dd3'],
  ['a Devanagari conjunct', '\u0915\u094d\u200d\u0937'],
  ['a mark beside Hebrew', '\u05d0!\u05d1\u200f (1)'],
  ['a Mongolian form', '\u1820\u180b'],
  ['the Arabic sign of a year', '\u0601\u0662'],
])('%s hides nothing', (_, text) => {
  expect(hidden(text)).toEqual([])
})

/** One line a carrier that attacks have used. */
test.each([
  ['tags', 'a\u{e0041}\u{e0042}'],
  ['tags behind a flag', '\u{1f3f4}\u{e0061}\u{e0062}\u{e007f}'],
  ['selectors of the supplement behind an emoji', '😀\u{e0155}\u{e0166}'],
  ['a second selector behind an emoji', '😀\ufe0f\ufe0f'],
  ['selectors in a row', '\ufe01\ufe02\ufe03'],
  ['invisible operators', '\u2062\u2064'],
  ['joiners between Latin letters', 'a\u200c\u200db'],
  ['zero width beside blanks', ' \u200b '],
  ['fillers', '\u3164\u115f\uffa0\u2800'],
  ['format of shorthand and music', '\u{1bca0}\u{1d173}'],
  ['a direction between Latin letters', 'a\u202eb\u200f'],
])('%s: found, and escaped where it is shown', (_, text) => {
  expect(hidden(text).length).toBeGreaterThan(0)
  for (const shown of [safeText(text), safeJson(text)])
    for (const char of hidden(text).filter((each) => !/[\ufe0e\ufe0f]/.test(each))) expect(shown).not.toContain(char)
})
