import fc from 'fast-check'
import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Lexer, parseAllDocuments } from 'yaml'
import { unifiedDiff } from '../../src/documents/fmt/diff.ts'
import { formatDocuments } from '../../src/documents/fmt/format.ts'
import { readDocuments } from '../../src/documents/workspace/read.ts'

const formatted = (text: string, path = 'agent.yaml'): string => {
  const result = formatDocuments({ path, text })
  if (!('text' in result)) throw new Error(JSON.stringify(result))
  return result.text
}

describe('order', () => {
  test('keys stand in the order of the schema, what it does not know follows as it stood', () => {
    expect(
      formatted(
        'spec:\n  tools:\n    - policies: []\n      as: x\n      ref: a.b@^1\n  zeta: 1\n  purpose: p\n  alpha: 2\nkind: Agent\nmetadata: {version: 1.0.0, name: n, namespace: a}\napiVersion: svc/v1\n',
      ),
    ).toBe(
      'apiVersion: svc/v1\nkind: Agent\nmetadata: { name: n, namespace: a, version: 1.0.0 }\nspec:\n  purpose: p\n  tools:\n    - ref: a.b@^1\n      as: x\n      policies: []\n  zeta: 1\n  alpha: 2\n',
    )
  })

  test('a key in the wrong place moves, though the first stands right', () => {
    expect(
      formatted('apiVersion: svc/v1\nspec:\n  description: d\n  output_schema: {}\n  input_schema: {}\nkind: Tool\n'),
    ).toBe('apiVersion: svc/v1\nkind: Tool\nspec:\n  description: d\n  input_schema: {}\n  output_schema: {}\n')
  })

  test('keys that authors name keep their order', () => {
    const text =
      'apiVersion: svc/v1\nkind: Tool\nmetadata:\n  labels:\n    b: x\n    a: y\nspec:\n  input_schema:\n    inline:\n      type: object\n      properties: { z: {}, a: {} }\n'
    expect(formatted(text)).toBe(text)
  })

  test('a document with aliases keeps its order: what they name stays above them', () => {
    const text = 'kind: Tool\nspec:\n  output_schema: &shape\n    ref: a.json\n  input_schema: *shape\n'
    expect(formatted(text)).toBe(text)
  })

  test('each document of a file has the order of its kind', () => {
    expect(formatted('---\nspec: {}\nkind: Tool\n---\nspec: {root: a.yaml}\nkind: Bundle\n')).toBe(
      '---\nkind: Tool\nspec: {}\n---\nkind: Bundle\nspec: { root: a.yaml }\n',
    )
  })

  test('JSON becomes JSON', () => {
    expect(
      formatted(
        '{"kind":"Tool","spec":{"input_schema":{"inline":{"b":[1.50,9007199254740991,-0,1E5],"a":{}}},"description":"x"},"apiVersion":"svc/v1"}',
        'tool.json',
      ),
    ).toBe(`{
  "apiVersion": "svc/v1",
  "kind": "Tool",
  "spec": {
    "description": "x",
    "input_schema": {
      "inline": {
        "b": [
          1.50,
          9007199254740991,
          -0,
          1E5
        ],
        "a": {}
      }
    }
  }
}
`)
  })
})

describe('quotes', () => {
  test.each([
    ['"plain"', 'plain'],
    ["'1.0.0'", '1.0.0'],
    ['"1.10"', '"1.10"'],
    ["'1.10'", '"1.10"'],
    ['"true"', '"true"'],
    ['"null"', '"null"'],
    ['"~"', '"~"'],
    ['""', '""'],
    ['"0x1F"', '"0x1F"'],
    ['"0o17"', '"0o17"'],
    ['"1e3"', '"1e3"'],
    ['".inf"', '".inf"'],
    ['"2026-11-21"', '2026-11-21'],
    ['"a: b"', '"a: b"'],
    ['"a #b"', '"a #b"'],
    ['"- a"', '"- a"'],
    ['" a"', '" a"'],
    ['"a\\tb"', 'a\tb'],
    ['"a\\u0007b"', '"a\\ab"'],
    ['"@a"', '"@a"'],
    ['"https://x.example/a?b=c#d"', 'https://x.example/a?b=c#d'],
    [String.raw`'^\d+: $'`, String.raw`'^\d+: $'`],
    [String.raw`'^\d+$'`, String.raw`^\d+$`],
    // A reader of YAML 1.1 takes them for truth values: the quotes say that a text is meant.
    ['"yes"', '"yes"'],
    ['"off"', '"off"'],
  ])('%s becomes %s', (written, wanted) => {
    const before = `kind: Tool\nspec:\n  description: ${written}\n`
    expect(formatted(before)).toBe(`kind: Tool\nspec:\n  description: ${wanted}\n`)
    expect(parseAllDocuments(formatted(before))[0]!.toJS()).toEqual(parseAllDocuments(before)[0]!.toJS())
  })

  test.each(['1.50', '0x1F', '1e3', '0.10', '-0', '~', 'null', 'true', '9007199254740991'])(
    '%s without quotes keeps its spelling',
    (written) => {
      const text = `kind: Tool\nspec:\n  description: ${written}\n`
      expect(formatted(text)).toBe(text)
    },
  )

  test('a long text stays on its line, what its author folds is folded', () => {
    const words = 'word '.repeat(40).trimEnd()
    expect(formatted(`kind: Tool\nspec:\n  description: "${words}"\n`)).toBe(
      `kind: Tool\nspec:\n  description: ${words}\n`,
    )
    expect(formatted(`kind: Policy\nspec:\n  description: >-\n    ${words}\n`)).toBe(
      `kind: Policy\nspec:\n  description: >-\n    ${'word '.repeat(15).trimEnd()}\n    ${'word '.repeat(15).trimEnd()}\n    ${'word '.repeat(10).trimEnd()}\n`,
    )
  })

  test('brackets that one line cannot hold are opened', () => {
    const members = Array.from({ length: 12 }, (_, at) => `property${at}: { type: string }`)
    expect(
      formatted(`kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {${members.join(', ')}}}}\n`),
    ).toBe(
      `kind: Tool\nspec:\n  input_schema:\n    inline:\n      type: object\n      properties:\n${members.map((each) => `        ${each}\n`).join('')}`,
    )
  })
})

describe('comments', () => {
  test('move with the key that they stand above or behind; those of the file stay on top', () => {
    expect(
      formatted(`# yaml-language-server: $schema=../schemas/agent.schema.json

# Kind of the document.
kind: Agent # an agent
# Format.
apiVersion: svc/v1
spec:
  # Where it is told what to do.
  instructions: { ref: a.md } # by path
  # What it is for.
  purpose: p
  # Nothing more.
metadata:
    # Its label.
    version: 1.0.0

    # Its name.
    name: n
`),
    ).toBe(`# yaml-language-server: $schema=../schemas/agent.schema.json

# Format.
apiVersion: svc/v1
# Kind of the document.
kind: Agent # an agent
metadata:
  # Its name.
  name: n
  # Its label.
  version: 1.0.0
spec:
  # What it is for.
  purpose: p
  # Where it is told what to do.
  instructions: { ref: a.md } # by path
  # Nothing more.
`)
  })

  test('a comment that silences a rule stays above its line', () => {
    expect(
      formatted(
        'kind: Agent\nspec:\n  tools:\n    # svc-lint-disable-next-line tool/unpinned -- ours\n    - ref: a.b\n    - ref: c.d # later\n',
      ),
    ).toBe(
      'kind: Agent\nspec:\n  tools:\n    # svc-lint-disable-next-line tool/unpinned -- ours\n    - ref: a.b\n    - ref: c.d # later\n',
    )
  })
})

test('a byte order mark goes, and lines stay broken as they were', () => {
  const written = '\uFEFFkind: Tool\r\nspec:\r\n    description: |\r\n        a\r\n        b\r\n'
  const text = 'kind: Tool\r\nspec:\r\n  description: |\r\n    a\r\n    b\r\n'
  expect(formatted(written)).toBe(text)
  expect(formatDocuments({ path: 'a.yaml', text })).toEqual({ text, changed: false })
  expect(formatted('{"kind": "Tool",\r\n"spec": {"description": "a"}}', 'a.json')).toBe(
    '{\r\n  "kind": "Tool",\r\n  "spec": {\r\n    "description": "a"\r\n  }\r\n}\r\n',
  )
})

test('a text that cannot be read is reported, not touched', () => {
  const result = formatDocuments({ path: 'a.yaml', text: 'kind: [\n' })
  expect('findings' in result && result.findings.map(({ rule }) => rule)).toEqual(['doc/syntax'])
})

test.each(['examples/refund', 'templates/refund'])('%s is written in the canonical form', (directory) => {
  const paths = (readdirSync(directory, { recursive: true }) as string[]).filter((path) => /\.(ya?ml|json)$/.test(path))
  const texts = paths
    .map((path) => ({ path, text: readFileSync(`${directory}/${path}`, 'utf8') }))
    .filter((each) => readDocuments(each).documents.length > 0)
  expect(texts.map(({ path, text }) => formatted(text, path))).toEqual(texts.map(({ text }) => text))
})

/** Texts of documents with everything an author may do: any order, quotes, brackets, comments, blank lines. */
const anyText = (() => {
  const word = fc.constantFrom(
    'a',
    'name',
    'ref',
    'spec',
    'kind',
    'purpose',
    'tools',
    'text',
    'z1',
    'on',
    '1.0',
    'version',
  )
  const value = fc.oneof(
    fc.constantFrom(
      '1.10',
      'true',
      '~',
      '"1.10"',
      "'it''s'",
      '"x: y"',
      'plain text',
      '"yes"',
      '0x1F',
      '"a\\nb"',
      "'c:\\d'",
      '""',
    ),
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text)),
  )
  const comment = fc.constantFrom('', '', '', ' # c', ' #d', ' # yaml: [')
  interface Lines {
    readonly own: string
    readonly lines: readonly string[]
  }
  const before = fc.constantFrom<readonly string[]>([], [], [], ['# above'], ['', '# far', '', '# near'], [''])
  const { map } = fc.letrec<{ map: Lines; seq: Lines; any: Lines }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.record({ value, comment }).map(({ value, comment }) => ({ own: ` ${value}${comment}`, lines: [] })),
      fc.array(value, { maxLength: 3 }).map((items) => ({ own: ` [${items.join(', ')}]`, lines: [] })),
      fc
        .uniqueArray(fc.tuple(word, value), { maxLength: 3, selector: ([key]) => key })
        .map((pairs) => ({ own: ` {${pairs.map(([key, each]) => `${key}: ${each}`).join(', ')}}`, lines: [] })),
      fc.constantFrom<Lines>(
        { own: ' |', lines: ['one', ' two # no comment', '', 'three'] },
        { own: ' >- # folded', lines: ['one', 'two', '', 'three'] },
        { own: '', lines: [] },
      ),
      tie('map'),
      tie('seq'),
    ),
    map: fc
      .uniqueArray(fc.tuple(word, tie('any'), before, comment), {
        minLength: 1,
        maxLength: 4,
        selector: ([key]) => key,
      })
      .map((members) => ({
        own: '',
        lines: members.flatMap(([key, { own, lines }, above, behind]) => [
          ...above,
          `${key}:${own}${own === '' ? behind : ''}`,
          ...lines.map((line) => (line === '' ? '' : `  ${line}`)),
        ]),
      })),
    seq: fc.array(fc.tuple(tie('any'), before), { minLength: 1, maxLength: 3 }).map((items) => ({
      own: '',
      lines: items.flatMap(([{ own, lines }, above]) => [
        ...above,
        // The first line of a mapping stands behind the dash.
        ...(own === '' && lines[0] !== undefined && !/^(?:#|$|-)/.test(lines[0])
          ? [`- ${lines[0]}`, ...lines.slice(1).map((line) => (line === '' ? '' : `  ${line}`))]
          : [`-${own}`, ...lines.map((line) => (line === '' ? '' : `  ${line}`))]),
      ]),
    })),
  }))
  return fc
    .record({ kind: fc.constantFrom('Agent', 'Tool', 'Policy', 'Bundle'), at: fc.nat(4), body: map, end: before })
    .map(({ kind, at, body, end }) => {
      const lines = body.lines.filter((line) => !line.startsWith('kind:'))
      const own = lines.map((line, index) => (/^[a-z]/.test(line) ? index : -1)).filter((index) => index >= 0)
      const place = own[at % Math.max(own.length, 1)] ?? lines.length
      return [...lines.slice(0, place), `kind: ${kind}`, ...lines.slice(place), ...end, ''].join('\n')
    })
})()

/** The lexer marks what is a scalar: a line of a block scalar that begins with `#` is text. */
const SCALAR = '\u001f'
const commentsIn = (text: string): string[] => {
  const tokens = [...new Lexer().lex(text)]
  return tokens.filter((token, at) => token.startsWith('#') && tokens[at - 1] !== SCALAR).sort()
}

test.each([
  ['lines that end in a lone CR', 'kind: Tool\rspec: {}\r'],
  ['a key of 5,000 characters', `kind: Tool\n${'k'.repeat(5000)}: 1\n`],
])('%s: the file stays as it is', (_, text) => {
  expect(formatDocuments({ path: 'tool.yaml', text })).toEqual({ kept: 'it can be read, but not printed' })
})

test('what is formatted says the same, with all its comments, and formatted again it stays', () => {
  let done = 0
  fc.assert(
    fc.property(anyText, (text) => {
      const result = formatDocuments({ path: 'a.yaml', text })
      fc.pre(!('findings' in result))
      if ('kept' in result) return
      done++
      expect(parseAllDocuments(result.text, { version: '1.2' }).map((each) => each.toJS() as unknown)).toEqual(
        parseAllDocuments(text, { version: '1.2' }).map((each) => each.toJS() as unknown),
      )
      expect(commentsIn(result.text)).toEqual(commentsIn(text))
      expect(formatDocuments({ path: 'a.yaml', text: result.text })).toEqual({ text: result.text, changed: false })
      const asOnWindows = (each: string): string => each.replaceAll('\n', '\r\n')
      expect(formatDocuments({ path: 'a.yaml', text: asOnWindows(text) })).toMatchObject({
        text: asOnWindows(result.text),
      })
      const known = ['apiVersion', 'kind', 'metadata', 'secrets', 'output', 'spec']
      const keys = (result.text.match(/^[a-z]\w*(?=:)/gim) ?? []).filter((key) => known.includes(key))
      expect(keys).toEqual([...keys].sort((a, b) => known.indexOf(a) - known.indexOf(b)))
    }),
    { numRuns: 300 },
  )
  // What is left alone is the exception.
  expect(done).toBeGreaterThan(270)
})

describe('the difference', () => {
  test('is shown with three lines around it', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
    const changed = lines.with(4, 'new 5').toSpliced(15, 1).toSpliced(18, 0, 'added')
    expect(unifiedDiff('a.yaml', `${lines.join('\n')}\n`, `${changed.join('\n')}\n`)).toBe(`--- a.yaml
+++ a.yaml
@@ -2,7 +2,7 @@
 line 2
 line 3
 line 4
-line 5
+new 5
 line 6
 line 7
 line 8
@@ -13,8 +13,8 @@
 line 13
 line 14
 line 15
-line 16
 line 17
 line 18
 line 19
+added
 line 20
`)
  })

  test('of texts without one is empty', () => {
    expect(unifiedDiff('a.yaml', 'x\n', 'x\n')).toBe('')
  })

  test('leads from one text to the other', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })
    const text = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = unifiedDiff('f', text(before), text(after)).split('\n').slice(2)
        const patched: string[] = []
        let at = 0
        for (const line of shown) {
          const from = /^@@ -(\d+)(?:,(\d+))?/.exec(line)
          if (from) {
            const start = from[2] === '0' ? Number(from[1]) : Number(from[1]) - 1
            while (at < start) patched.push(before[at++]!)
          } else if (line.startsWith('+')) patched.push(line.slice(1))
          else if (line !== '') {
            // A line that is not the one of the text would show up in what comes out.
            if (line.startsWith(' ') || line.slice(1) !== before[at]) patched.push(before[at]!)
            at++
          }
        }
        expect([...patched, ...before.slice(at)]).toEqual(after)
      }),
    )
  })
})
