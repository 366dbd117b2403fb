import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { CORE_SCHEMA } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { unsafeNumberIn } from '../../src/base/json/exact-number.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { YamlNode } from '../../src/documents/text/node.ts'
import { createSource } from '../../src/documents/text/source.ts'
import { readYaml } from '../../src/documents/text/yaml.ts'

const read = (text: string, path = 'a.yaml') => readYaml(createSource(path, text))
const valueOf = (text: string): unknown => read(text).roots[0]?.value
const rulesOf = (text: string, path?: string): string[] => read(text, path).findings.map(({ rule }) => rule)

describe('scalars are those of the YAML 1.2 core schema', () => {
  test.each<[string, JsonValue]>([
    ['1.10', 1.1],
    ['yes', 'yes'],
    ['on', 'on'],
    ['0o7', 7],
    ['0x1F', 31],
    ['012', 12],
    ['1_000', '1_000'],
    ['~', null],
    ['Null', null],
    ['nULL', 'nULL'],
    ['', null],
    ['True', true],
    ['tRUE', 'tRUE'],
    ['1e3', 1000],
    ['2026-01-01', '2026-01-01'],
    ['1:30', '1:30'],
    ['"500"', '500'],
    ["'it''s'", "it's"],
    ['|\n    two\n    lines', 'two\nlines\n'],
    ['>-\n    folded\n    text', 'folded text'],
  ])('%j', (written, value) => {
    expect(valueOf(`a: ${written}\n`)).toEqual({ a: value })
  })

  test.each(['9007199254740993', '-9007199254740992', '1e400', '1e-400', '0x20000000000001', '1234567890.123456789'])(
    '%s is refused: it would be another number, in whatever way it is written',
    (written) => {
      for (const text of [`a: ${written}\n`, `a: [1, ${written}]\n`, `{"a": ${written}}`, `a: !!float ${written}\n`])
        expect(rulesOf(text)).toContain('doc/number-range')
      expect(rulesOf(`a: "${written}"\n`)).toEqual([])
      expect(rulesOf(`a: v${written}\n`)).toEqual([])
    },
  )
  test.each([String.raw`"\ud83d"`, String.raw`"a\udc00b"`, String.raw`"\ude00\ud83d"`])(
    '%s is refused: half of a surrogate pair is no character',
    (written) => {
      for (const text of [`a: ${written}\n`, `${written}: a\n`, `{"a": [${written}]}`]) {
        expect(rulesOf(text)).toEqual(['doc/syntax'])
        expect(JSON.stringify(valueOf(text)).isWellFormed() && !JSON.stringify(valueOf(text)).includes('\\ud')).toBe(
          true,
        )
      }
      expect(valueOf(String.raw`"\ud83d\ude00"`)).toBe('😀')
    },
  )

  test('9007199254740991 is the largest number', () => {
    expect(valueOf('[9007199254740991, -9007199254740991, 0x1FFFFFFFFFFFFF]')).toEqual([
      9007199254740991, -9007199254740991, 9007199254740991,
    ])
  })

  test.each(['.inf', '-.INF', '.nan'])('%s is refused: JSON has no such number', (written) => {
    expect(rulesOf(`a: ${written}\n`)).toEqual(['doc/syntax'])
  })
})

describe('a bracket that closes below the key or dash of the line that opens it', () => {
  test.each<[what: string, text: string]>([
    ['a mapping at the top', 'a: {\n  x: 1\n}\nb: 2\n'],
    ['a mapping further in', 's:\n  a: {\n    x: 1, # }\n  } # end\n  b: 2\n'],
    ['a list', 's:\n  a: [\n    1,\n    two words\n\n    # more\n  ]\n'],
    ['an item', 's:\n- [\n  1\n]\n- {\n  x: 1\n}\n'],
    ['a key of an item', 's:\n  - a: {\n      x: 1\n    }\n    b: &q [\n      2\n    ]\n  - *q\n'],
    ['brackets in brackets', 'a: [\r\n  {\r\n    b: "x"\r\n  },\r\n  [\r\n  ]\r\n]\r\nd: "e"\r\n'],
    ['beside a text with such a bracket', 'a: {\n  x: 1\n}\nt: |\n  b {\n    y\n  }\nq: "c: {\n  }"\n'],
    ['a key with a bracket in it', '"k: {": {\n  x: 1\n}\n'],
  ])('is read with the places of everything: %s', (_, text) => {
    // One column more for each is what the parser would have, where that is a letter of its own.
    const indented = text.replaceAll(/^( *)([}\]](?!"))/gm, '$1 $2')
    expect(valueOf(text)).toEqual(parse(text))
    const written = (each: string): string[] => {
      const found: string[] = []
      const visit = (node: YamlNode): void => {
        found.push(each.slice(node.start, node.end).replaceAll(/\s+/g, ' '))
        for (const member of node.members ?? []) {
          found.push(each.slice(member.start, member.end))
          visit(member.node)
        }
        node.items?.forEach(visit)
      }
      read(each).roots.forEach(visit)
      return found
    }
    expect(written(text)).toEqual(written(indented))
  })

  test.each([
    ['one that closes nothing', 't: |\n  {\n}\n', 3],
    ['one further out', 's:\n    a: {\n      x: 1\n}\n', 4],
    ['one below the dash of a key', 's:\n  - a: {\n      x: 1\n  }\n', 4],
    ['content', 's:\n  a: [\n  1\n  ]\n', 3],
    ['a fault behind one', 'a: {\n  x: 1\n}\n  b: 2\n', 4],
    ['a bracket that is never closed behind one', 'a: {\n  x: 1\n}\nb: [\nc: 2\n', 5],
  ])('but not %s', (_, text, line) => {
    expect(read(text).findings.map(({ rule, range }) => [rule, range.start.line])).toEqual([['doc/syntax', line]])
  })

  test('a thousand times in one text', () => {
    const text = Array.from({ length: 1000 }, (_, n) => `k${n}: {\n  x: ${n}\n}\n`).join('')
    expect(valueOf(text)).toEqual(parse(text))
  })

  test('and beside as many that stand in a text, each further out than the last', () => {
    const stairs = Array.from({ length: 900 }, (_, n) => `${' '.repeat(900 - n)}]\n`).join('')
    const { findings } = read(`a: [\n]\nb: |\n${'\n'.repeat(500_000)}${stairs}`)
    expect(findings.map(({ rule, range }) => [rule, range.start.line])).toEqual([['doc/syntax', 500_005]])
  })
})

test('a word without quotes is what the core schema makes of it', () => {
  const letters = 'aefilnorstuxyAEFILNORSTUXY019.+-_~'.split('')
  const words = fc.oneof(
    fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((each) => each.join('')),
    fc.constantFrom(
      'null',
      'Null',
      'NULL',
      'true',
      'True',
      'TRUE',
      'false',
      'False',
      'FALSE',
      'yes',
      'off',
      'nan',
      'inf',
    ),
  )
  fc.assert(
    fc.property(words, (word) => {
      fc.pre(!word.startsWith('-') || word.length > 1)
      const { value } = CORE_SCHEMA.resolveImplicitScalarTag(word)
      fc.pre(typeof value !== 'number' || Number.isFinite(value))
      expect(valueOf(`- ${word}`)).toEqual([value])
      expect(valueOf(`${word}: 1`)).toEqual({ [word]: 1 })
    }),
    { numRuns: 500 },
  )
})

test('a key is a text, whatever its spelling', () => {
  expect(valueOf('1: a\ntrue: b\nnull: c\n')).toEqual({ 1: 'a', true: 'b', null: 'c' })
})

test('`__proto__` is an ordinary key', () => {
  const value = valueOf('__proto__: {admin: true}\n') as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test('merge keys are ordinary keys', () => {
  expect(valueOf('base: &b {x: 1}\nuse:\n  <<: *b\n')).toEqual({ base: { x: 1 }, use: { '<<': { x: 1 } } })
})

test('an alias has the value of its anchor, and its own place', () => {
  const { roots } = read('a: &x [1, 2]\nb: *x\n')
  expect(roots[0]?.value).toEqual({ a: [1, 2], b: [1, 2] })
  expect(roots[0]?.members?.[1]?.node).toMatchObject({ start: 16, end: 18, alias: true })
})

test('a pair in a list ends with its value, the list with its bracket', () => {
  const { roots } = read('a: [b, c: d]\ne: 1\n')
  const list = roots[0]?.members?.[0]?.node
  expect(list).toMatchObject({ start: 3, end: 12, value: ['b', { c: 'd' }] })
  expect(list?.items?.[1]).toMatchObject({ start: 7, end: 11 })
})

test('several documents of a file are read in order', () => {
  expect(read('a: 1\n---\nb: 2\n').roots.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }])
})

test('a key that is written twice is reported with both places, and the first stays', () => {
  const { roots, findings } = read('a: 1\nb: 2\na: 3\n')
  expect(roots[0]?.value).toEqual({ a: 1, b: 2 })
  expect(findings).toEqual([
    {
      rule: 'doc/duplicate-key',
      severity: 'error',
      message: 'The key "a" is written twice.',
      fix: { description: 'Merge the two.', edits: [] },
      path: 'a.yaml',
      pointer: '',
      range: { start: { line: 3, column: 1, offset: 10 }, end: { line: 3, column: 2, offset: 11 } },
      related: [
        {
          path: 'a.yaml',
          range: { start: { line: 1, column: 1, offset: 0 }, end: { line: 1, column: 2, offset: 1 } },
          message: 'first here',
        },
      ],
      docs: 'svc explain doc/duplicate-key',
    },
  ])
})

describe('what is no plain data is refused', () => {
  test.each([
    ['a tag that runs code', 'a: !!js/function "x"\n'],
    ['a tag of our own', 'a: !secret x\n'],
    ['a tag of YAML 1.1', 'a: !!binary aGVsbG8=\n'],
    ['an alias without an anchor', 'a: *b\n'],
    ['an alias inside what it names', 'a: &x [*x]\n'],
    ['a mapping as a key', '? {a: 1}\n: b\n'],
    ['another version of YAML', '%YAML 1.1\n---\na: 1\n'],
    ['a tab as indentation', 'a:\n\tb: 1\n'],
    ['a bracket that is not closed', 'a: [1, 2\nb: 3\n'],
    ['a colon too many', 'a: b: c\n'],
  ])('%s', (_, text) => {
    expect(rulesOf(text)).toEqual(['doc/syntax'])
  })
})

describe('a hostile text is an ordinary finding', () => {
  const repeated = (text: string, times: number): string => text.repeat(times)
  const ladder = (steps: number): string =>
    `a0: &a0 [x]\n${Array.from({ length: steps }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`).join('\n')}\n`
  test.each([
    ['200 kB of [', repeated('[', 200_000)],
    ['200 kB of [ as JSON', repeated('[', 200_000), 'a.json'],
    ['200 kB of {', repeated('{', 200_000)],
    ['200 kB of "- "', repeated('- ', 100_000)],
    ['200 kB of "? "', repeated('? ', 100_000)],
    ['65 levels of lists', `${repeated('[', 65)}${repeated(']', 65)}`],
    ['65 levels of indentation', Array.from({ length: 65 }, (_, n) => `${' '.repeat(n)}a:`).join('\n')],
    ['nine aliases of nine aliases', ladder(9)],
    [
      'nesting hidden in aliases',
      `a: &a ${repeated('[', 40)}${repeated(']', 40)}\nb: ${repeated('[', 30)}*a${repeated(']', 30)}\n`,
    ],
    ['10,001 keys', Array.from({ length: 10_001 }, (_, n) => `k${n}: 1`).join('\n')],
    ['more than 1 MiB', `a: ${repeated('x', 1024 * 1024)}`],
  ])('%s', (_, text, path = 'a.yaml') => {
    expect(rulesOf(text, path)).toEqual(['doc/too-large'])
  })

  test.each([
    ['a: ', 'x#', '', 1],
    ['a: ', 'x:', '', 0],
    ['a: x', ' ', '# c\n', 1],
    ['a: "', '\\n', '"\n', 1],
    ["a: '", "''", '', 0],
    ['a: [', 'b, ', 'c]\n', 1],
    ['', '\n', 'a: b\n', 1],
    ['a: |\n', ' \n', ' x\n', 1],
    ['a: b\n', '  c\n', '', 1],
    ['', '-\n', '', 1],
    ['', 'a: *b\n', '', 1],
    ['', ' a: b\n', '', 1],
  ])('a text of %j, many %j and %j is read at once', (start, many, end, roots) => {
    const long = start + many.repeat(300_000 / many.length) + end
    expect(readYaml(createSource('a.yaml', long)).roots).toHaveLength(roots)
  })

  test('any text at all is read without an exception', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '\n',
      '  ',
      '\t',
      '"',
      "'",
      '&a ',
      '*a',
      '!',
      '#',
      '|',
      '>',
      '?',
      ',',
      '%',
      '---\n',
      '\uD800',
      '\u0000',
    )
    const texts = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
    expect(() =>
      fc.assert(
        fc.property(texts, (text) => void read(text)),
        { numRuns: 2000 },
      ),
    ).not.toThrow()
  })
})

describe('another reader reads the same', () => {
  const json = fc
    .jsonValue({ maxDepth: 4 })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue)
    // Larger numbers are refused.
    .filter((value) => unsafeNumberIn(value) === undefined)
  const same = (read: (value: JsonValue) => { ours: unknown; theirs: unknown }): void =>
    fc.assert(
      fc.property(json, (value) => {
        const { ours, theirs } = read(value)
        return isDeepStrictEqual(ours, theirs)
      }),
    )

  test('what the editor of YAML writes', () => {
    const both = (value: JsonValue) => {
      const text = stringify({ value })
      return { ours: valueOf(text), theirs: parse(text) as unknown }
    }
    expect(() => same(both)).not.toThrow()
  })

  test('every document of the examples and templates', () => {
    const files = ['examples', 'templates'].flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.ya?ml$/.test(name))
        .map((name) => join(room, name)),
    )
    expect(files.length).toBeGreaterThan(100)
    for (const file of files) {
      const text = readFileSync(file, 'utf8')
      const theirs = parseAllDocuments(text).map((each) => each.toJS() as unknown)
      expect([file, read(text).roots.map(({ value }) => value)]).toEqual([file, theirs])
    }
  })

  test.each([undefined, 2, '\t'])('what JSON.stringify writes, indented by %j', (indent) => {
    const both = (value: JsonValue) => {
      const text = JSON.stringify({ value }, null, indent)
      const { roots, findings } = read(text, 'a.json')
      return { ours: findings.length === 0 && roots[0]?.value, theirs: JSON.parse(text) as unknown }
    }
    expect(() => same(both)).not.toThrow()
  })
})

test.each(['[1,]', "{'a': 1}", '{a: 1}', '// a\n{}'])('a .json file is held to JSON: %j', (text) => {
  expect(rulesOf(text, 'a.json')).toEqual(['doc/syntax'])
})
