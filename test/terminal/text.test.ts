import { stripVTControlCharacters } from 'node:util'
import { array, assert, constantFrom, integer, jsonValue, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { safeBlock, safeJson, safeText } from '../../src/base/text/escape-text.ts'
import { widthOf } from '../../src/terminal/width.ts'
import { foldText, padText, truncateText, wrapText } from '../../src/terminal/text.ts'

test.each([
  ['plain text', 'a b', 'a b'],
  ['letters of the world', 'Grüße, 世界, שלום, 👍🏽', 'Grüße, 世界, שלום, 👍🏽'],
  ['a colour', '\x1b[31mred\x1b[0m', 'red'],
  ['a colour with a colon', '\x1b[38:2::255:0:0mred', 'red'],
  ['a cursor that goes up', 'ok\x1b[2A\x1b[2Kforged', 'okforged'],
  ['a private mode', '\x1b[?1049hx\x1b[?25l', 'x'],
  ['C1 CSI', '\x9b31mred', 'red'],
  ['a title, ended by BEL', '\x1b]0;title\x07x', 'x'],
  ['a link, ended by ST', '\x1b]8;;http://evil.test\x1b\\click\x1b]8;;\x1b\\', 'click'],
  ['the clipboard', '\x1b]52;c;ZXZpbA==\x07x', 'x'],
  ['C1 OSC', '\x9d0;title\x9cx', 'x'],
  ['DCS, SOS, PM and APC', '\x1bPa\x1b\\\x1bXb\x1b\\\x1b^c\x1b\\\x1b_d\x1b\\x', 'x'],
  ['an OSC that never ends hides nothing', '\x1b]0;amount 9999', '\\x1b]0;amount 9999'],
  ['an OSC that ends on the next line', '\x1b]0;a\nb\x07', '\\x1b]0;a\\nb\\x07'],
  ['a character set', '\x1b(0lqk', 'lqk'],
  ['a reset', '\x1bcx', 'x'],
  ['a lone ESC at the end', 'x\x1b', 'x\\x1b'],
  ['a sequence that appears by removing one', '\x1b\x1b[31m[31mx', '\\x1b[31mx'],
  ['a carriage return', 'approved\rrejected', 'approved\\rrejected'],
  ['backspaces', '100\b\b\b999', '100\\b\\b\\b999'],
  ['a line break and a tab', 'a\nb\tc', 'a\\nb\\tc'],
  ['NUL, BEL and DEL', '\x00\x07\x7f', '\\x00\\x07\\x7f'],
  ['C1', '\x84\x85', '\\x84\\x85'],
  ['a bidi override', 'gpj.\u202eexe', 'gpj.\\u202eexe'],
  ['bidi isolates and marks', '\u2066\u2069\u200e\u200f\u061c', '\\u2066\\u2069\\u200e\\u200f\\u061c'],
  ['zero width', 'pay\u200bpal\u200d\u2060\ufeff\u00ad', 'pay\\u200bpal\\u200d\\u2060\\ufeff\\xad'],
  ['blank letters', '\u3164\uffa0\u115f\u180e', '\\u3164\\uffa0\\u115f\\u180e'],
  ['line separators', '\u2028\u2029', '\\u2028\\u2029'],
  ['tags', 'x\u{e0041}', 'x\\u{e0041}'],
  ['half a surrogate pair', '\ud83d!', '\\ud83d!'],
  ['the replacement character', '\ufffd', '\ufffd'],
])('safeText: %s', (_, text, expected) => {
  expect(safeText(text)).toBe(expected)
})

test('safeBlock keeps lines and lays out tabs', () => {
  expect(safeBlock('a\r\nb\tc\n\x1b[31md\re')).toBe('a\nb    c\nd\\re')
})

const anything = oneof(
  string({ unit: 'binary' }),
  array(
    oneof(constantFrom('\x1b', '[', ']', '\x9b', '\x9d', ';', '1', 'm', '\x07', '\\', 'P', '\r', '\u202e'), string()),
  ).map((parts) => parts.join('')),
)
const CONTROL = new RegExp(String.raw`[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]`)

test('no text becomes anything that a terminal would obey', () => {
  assert(
    property(anything, (text) => {
      const safe = safeText(text)
      expect(safe).not.toMatch(CONTROL)
      expect(stripVTControlCharacters(safe)).toBe(safe)
      expect(safeText(safe)).toBe(safe)
      expect(safeBlock(text).replaceAll('\n', '')).not.toMatch(CONTROL)
    }),
  )
})

test('safeJson says exactly the value, in either form', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      const expected = JSON.parse(JSON.stringify(value)) as unknown
      for (const form of ['line', 'block'] as const) {
        const text = safeJson(value, form)
        expect(text.replaceAll('\n', '')).not.toMatch(CONTROL)
        expect(JSON.parse(text)).toEqual(expected)
      }
    }),
  )
  expect(safeJson({ a: '\x1b[31m\u202e', b: [1] })).toBe('{"a":"\\u001b[31m\\u202e","b":[1]}')
  expect(safeJson({ a: 1 }, 'block')).toBe('{\n  "a": 1\n}')
})

test('a hundred thousand openings are looked through in no time', () => {
  const began = process.cpuUsage()
  for (const opening of ['\x1b]', '\x9d', '\x1b[', '\x1b', '\x1bP0']) safeText(opening.repeat(100_000))
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(2000)
})

test.each([
  ['hello', 5, 'hello'],
  ['hello', 4, 'hel…'],
  ['hello', 1, '…'],
  ['hello', 0, ''],
  ['世界世界', 8, '世界世界'],
  ['世界世界', 7, '世界世…'],
  ['世界世界', 6, '世界…'],
  ['👍🏽👍🏽', 3, '👍🏽…'],
  ['hello', Number.POSITIVE_INFINITY, 'hello'],
])('truncate %j to %d', (text, width, expected) => {
  expect(truncateText(text, width)).toBe(expected)
})

test.each([
  ['one two three', 8, ['one two', 'three']],
  ['one two three', 7, ['one two', 'three']],
  ['one  two', 5, ['one', 'two']],
  ['abcdefgh', 3, ['abc', 'def', 'gh']],
  ['ab cdefgh', 3, ['ab', 'cde', 'fgh']],
  ['世界世界', 5, ['世界', '世界']],
  ['a\n\nb', 5, ['a', '', 'b']],
  ['', 5, ['']],
])('wrap %j to %d', (text, width, expected) => {
  expect(wrapText(text, width)).toEqual(expected)
})

test('folding loses nothing, not even spaces', () => {
  assert(
    property(string({ unit: 'grapheme' }), integer({ min: 2, max: 20 }), (text, width) => {
      const pieces = foldText(text, width)
      expect(pieces.join('')).toBe(text)
      // A character that is wider than the whole line stands alone.
      for (const piece of pieces) expect(widthOf(piece) <= width || foldText(piece, 1).length === 1).toBe(true)
    }),
  )
})

test('pad counts columns, not characters', () => {
  expect([padText('世', 4), padText('世', 4, 'right'), padText('long', 2)]).toEqual(['世  ', '  世', 'long'])
})
