import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPlainly } from '../../src/documents/plain-yaml.ts'
import { createSource } from '../../src/documents/source.ts'
import { readParsed } from '../../src/documents/yaml.ts'

/** What the parser says of any text. */
const parsed = (text: string): unknown => readParsed(createSource('a.yaml', text))

/** What is said of any text: here, where it is read here. */
function said(text: string): unknown {
  const roots = readPlainly(text)
  return roots === undefined ? parsed(text) : { roots, findings: [] }
}

test.each([
  'a: b\n',
  'a: b',
  'a: b\n\n  # c\n\n',
  'a: two words # and what they mean\n',
  'a:   b  \nc: d\n',
  'a: b\n  goes on\n  in lines\nc: d\n',
  'a: https://example.com:80/x?y=1#z\n',
  'a: [1, 2.5, 0x1f, -1, 1e3, 08, true, null, ~, yes, word]\n',
  'a: { b: c, d: [e, { f: g }], h: {}, i: [], j: "k", l: 8:00, m: n o }\n',
  'a: [b,c ]\nd: {e: f}\n',
  'a: "b\\n\\"c\\" \\\\ \\/"\nd: \'it\'\'s\'\ne: "" # f\n',
  'a: ^1.0\nc: -x\nd: ${e.f}\ng: (h)\n',
  'a:\nb: # nothing\nc:\n  - \n  -\n',
  'a:\n  b:\n    c: d\n  e: f\ng: h\n',
  'a:\n- b\n- c\nd:\n  - e: f\n    g: h\n  -   # far\n    i: j\n',
  '- a\n- b: c\n',
  'a: |\n  b\n    c\n\n  d\n\ne: >-\n  f\n  g\n\n   h\ni: |+\n  j\n\n\nk: >\n\n  l\n',
  '# first\n---\na: b\n---\nc: d\n',
  'x.y-z/w: a\nconstructor: b\n',
  'a: \u00E4\u00F6\u00FC \u4E2D\u6587\nb: "\u00E9"\n',
])('%j is read as the parser reads it', (text) => {
  expect({ roots: readPlainly(text), findings: [] }).toEqual(parsed(text))
})

test.each([
  ['an anchor', 'a: &b c\n'],
  ['an alias', 'a: *b\n'],
  ['a tag', 'a: !!str b\n'],
  ['a directive', '%YAML 1.2\n---\na: b\n'],
  ['a key twice', 'a: b\na: c\n'],
  ['a key in quotes', '"a": b\n'],
  ['a key that is no name', '1: b\n'],
  ['what changes a prototype', '__proto__: b\n'],
  ['a number that JSON cannot say', 'a: .inf\n'],
  ['brackets on several lines', 'a: [b,\n  c]\n'],
  ['a bracket too many', 'a: [b]]\n'],
  ['a comma at the end', 'a: [b, ]\n'],
  ['a pair in a list', 'a: [b: c]\n'],
  ['an escape that JSON does not know', 'a: "\\x41"\n'],
  ['quotes on several lines', 'a: "b\n  c"\n'],
  ['a tab', 'a:\tb\n'],
  ['a line feed and a return', 'a: b\r\n'],
  ['a control', 'a: \u0007\n'],
  ['a space of other programs', 'a: b\u00A0c\n'],
  ['half a letter', 'a: \uD800\n'],
  ['nothing', ''],
  ['a word', 'a\n'],
  ['what is indented wrong', 'a:\n    b: c\n  d: e\n'],
  ['an indentation that is said', 'a: |2\n    b\n'],
  ['space at the end of a block', 'a: |\n b\n  '],
  ['a comment in words', 'a: b\n  # c\n  d\n'],
  ['a list in a list', '- - a\n'],
  ['an end', 'a: b\n...\n'],
  ['a letter with which no value begins', 'a: %b\n'],
  ['another', 'a: @b\n'],
  ['a question mark', 'a: ? b\n'],
  ['a dash that is no item', '- a\n-b\n'],
  ['a dash in brackets', 'a: [-]\n'],
  ['a colon before a comma', 'a: [b:, c]\n'],
  ['a comment without space', 'a: "b"#c\n'],
  ['a mark that is indented', '  ---\n  a: b\n'],
  ['a mark that goes on', '---a: b\n'],
  ['a tab in quotes', 'a: "b\tc\\n"\n'],
  ['a letter that cannot be printed', 'a: b\u007F\n'],
  ['no letter', 'a: b\uFFFE\n'],
  ['quotes that go on deeper', 'a: "b"\n  c: d\n'],
  ['a list that goes on deeper', 'a:\n  - b: [c]\n      d: e\n'],
  ['a block that goes on deeper', 'a:\n  b: |\n      c\n    d: e\n'],
  ['what goes on between two', 'a:\n    b:\n        c: d\n      e: f\ng: h\n'],
  ['what is deep', `a: ${'['.repeat(30)}${']'.repeat(30)}\n`],
  ['a mapping of a thousand keys and one', Array.from({ length: 1001 }, (_, at) => `k${at}: v\n`).join('')],
])('%s is left to the parser', (_, text) => {
  expect(readPlainly(text)).toBeUndefined()
})

const letters = [
  ...Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)),
  ...'\u1680\u2000\u200B\u2028\u2029\u202F\u205F\u3000\uD800\uDC00\uFEFF\uFFFE\uFFFF'.split(''),
  '\u{1F600}',
]

test.each([
  'a: %\n',
  'a: %b\n',
  'a: b%\n',
  'a: b%c\n',
  'a: b %\n',
  'a: b\n  %\n',
  '- %a\n',
  'a%: b\n',
  '%: a\n',
  'a:%b\n',
  'a: [%]\n',
  'a: [%b, c%]\n',
  'a: { b: %c, d: e% }\n',
  'a: "b%c\\n"%\n',
  "a: 'b%c'\n",
  'a: b # %\n',
  'a: b\n%\nc: d\n',
  'a: |\n  b%\n  %\n',
  'a: |%\n  b\n',
  'a: b\n---%\nc: d\n',
  'a: b\n%',
])('whatever letter stands in %j, what is read is what the parser reads', (text) => {
  for (const letter of letters) {
    const written = text.replaceAll('%', () => letter)
    expect(said(written)).toEqual(parsed(written))
  }
})

// prettier-ignore
const leaf = fc.constantFrom(
  'word', 'two words', '"q"', "'it''s'", '1', '-2.5', 'true', '~', '', '[a, b]', '{ a: b, c: [d] }', '{}', '[ ]',
  'https://x/y#z', 'a # c', ' # c', '"x\\"y" # c', '-x', '^1.0', '>=1', '8:00', '[a b, c:d ]', '{ a: }', 'word  ',
  'x\n%more', 'x\n%  more\n%and more', '|\n%  l\n%  m', '|-\n%l', '>\n%  l\n\n%   m', '|+\n% x\n\n', '|\n%x',
  '&x y', '*x', '!!str x', 'a: b', '- a', '"a" b', '"a": b', '[a] # c', 'x #c', 'x# c', '|2\n%  x', '=', '.5',
)
const key = fc.constantFrom('a', 'b', 'c', 'd.e', 'f/g', 'A_b', 'h-i', '- j', '-', '-', '- ', '"k"')
const gap = fc.constantFrom('', '', '', '', '\n', '# c\n', '  # c\n', '   \n')
const indentation = fc.constantFrom('', '', ' ', '  ', '  ', '  ', '    ')
const line = fc.tuple(indentation, key, leaf, gap).map(([indent, name, value, after]) => {
  const mark = name.startsWith('-') && name.length < 3 ? name : `${name}:`
  return `${indent}${mark}${mark.endsWith(' ') ? '' : ' '}${value.replaceAll('%', `${indent}  `)}\n${after}`
})

test('of any lines, what is read is what the parser reads', () => {
  let read = 0
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 6 }).map((lines) => lines.join('')),
      (text) => {
        expect(said(text)).toEqual(parsed(text))
        if (readPlainly(text) !== undefined) read++
      },
    ),
    { numRuns: 5000 },
  )
  expect(read).toBeGreaterThan(500)
})

const files = ['examples', 'templates'].flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => join(room, name)),
)

test('so it is of whatever is done to a document of the examples and templates', () => {
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  const put = fc.constantFrom(...'-#:?"\'[]{},|>&*!%@`~ \n\t'.split(''), '', '\n  ', ': ', '- ', ' #', '|\n')
  const slip = fc.tuple(fc.nat(), fc.nat({ max: 3 }), put)
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(slip, { maxLength: 3 }), (text, slips) => {
      const slipped = slips.reduce((before, [place, gone, instead]) => {
        const at = place % (before.length + 1)
        return before.slice(0, at) + instead + before.slice(at + gone)
      }, text)
      expect(said(slipped)).toEqual(parsed(slipped))
    }),
    { numRuns: 1000 },
  )
})

test('nearly every document of the examples and templates is read here', () => {
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => readPlainly(readFileSync(file, 'utf8')) === undefined)).toEqual([
    // Brackets on several lines.
    join('templates', 'intake', 'models', 'intake.yaml'),
  ])
})

const LONG = 300_000

test.each([
  ['a: ', 'x#', '', 1],
  ['a: ', 'x:', '', 0],
  ['a: ', 'x ', '\n', 1],
  ['a: x', ' ', '# c\n', 1],
  ['a: "', '\\n', '"\n', 1],
  ["a: '", "''", '', 0],
  ['a: [', 'b, ', 'c]\n', 1],
  ['a: ', '[', '', 0],
  ['a: ', '{ a: ', '', 0],
  ['', '\n', 'a: b\n', 1],
  ['a: |\n', ' \n', ' x\n', 0],
  ['a: b\n', '  c\n', '', 1],
  ['', '- ', '', 0],
  ['', '-\n', '', 1],
  ['', 'a.', ': b\n', 1],
])('a text of %j, many %j and %j is read, or left, at once', (start, many, end, roots) => {
  expect(readPlainly(start + many.repeat(LONG / many.length) + end) ?? []).toHaveLength(roots)
})
