import { describe, expect, test } from 'vitest'
import { asKind } from '../../src/documents/text/document.ts'
import { readDocuments } from '../../src/documents/workspace/read.ts'

const text = `apiVersion: svc/v1
kind: Policy
metadata:
  name: limit
  namespace: pay
  version: "1.0.0"
spec:
  conditions: {field: args.amount, op: gt, value: "500"}
  allow:
    - EUR
    -   "US\\tD"
  decision:
    type: deny
`
const [document] = readDocuments({ path: 'p.yaml', text }).documents

/** The text of a span, and where it begins. */
const at = (span: { start: { line: number; column: number; offset: number }; end: { offset: number } } | undefined) =>
  span && [text.slice(span.start.offset, span.end.offset), `${span.start.line}:${span.start.column}`]

describe('places', () => {
  test.each([
    ['/metadata/name', ['limit', '4:9']],
    ['/metadata/version', ['"1.0.0"', '6:12']],
    ['/spec/conditions/value', ['"500"', '8:51']],
    ['/spec/conditions', ['{field: args.amount, op: gt, value: "500"}', '8:15']],
    ['/spec/allow/0', ['EUR', '10:7']],
    ['/spec/allow/1', ['"US\\tD"', '11:9']],
    ['/spec/decision', ['type: deny', '13:5']],
    ['/spec/nothing', undefined],
    ['/spec/allow/2', undefined],
  ])('value at %s', (pointer, expected) => {
    expect(at(document?.spanOf(pointer))).toEqual(expected)
  })

  test.each([
    ['/spec/conditions', ['conditions', '8:3']],
    ['/spec/allow/1', ['"US\\tD"', '11:9']],
  ])('key at %s', (pointer, expected) => {
    expect(at(document?.keySpanOf(pointer))).toEqual(expected)
  })

  test.each([
    ['a scalar is shown itself', '/spec/decision/type', ['deny', '13:11']],
    ['a mapping is shown by its key', '/spec/decision', ['decision', '12:3']],
    ['what is absent is shown by what should hold it', '/spec/decision/timeout/default', ['decision', '12:3']],
    ['the whole is shown by its first key', '', ['apiVersion', '1:1']],
  ])('%s', (_, pointer, expected) => {
    expect(at(document?.placeOf(pointer).range)).toEqual(expected)
  })

  test('lines may end with CR LF, and characters may take two code units', () => {
    const source =
      'apiVersion: svc/v1\r\nkind: Tool\r\nmetadata: {name: "😀x", namespace: n, version: "1.0.0"}\r\nspec: {}\r\n'
    const [tool] = readDocuments({ path: 't.yaml', text: source }).documents
    expect(tool?.spanOf('/metadata/namespace')).toEqual({
      start: { line: 3, column: 36, offset: source.indexOf('n, version') },
      end: { line: 3, column: 37, offset: source.indexOf('n, version') + 1 },
    })
  })
})

describe('values at a path', () => {
  test('a star matches every member', () => {
    expect(document?.at('spec.allow.*').map(({ pointer, key, value }) => ({ pointer, key, value }))).toEqual([
      { pointer: '/spec/allow/0', key: '0', value: 'EUR' },
      { pointer: '/spec/allow/1', key: '1', value: 'US\tD' },
    ])
  })

  test('a missing path has no value', () => {
    expect(document?.at('spec.decision.timeout.default')).toEqual([])
  })
})

test('a document knows its identity', () => {
  expect(document?.identity).toEqual({ id: 'pay.limit', namespace: 'pay', name: 'limit', version: '1.0.0' })
})

test('a sound document may be read as its kind, and as no other', () => {
  expect(document && asKind(document, 'Policy')?.spec.decision?.type).toBe('deny')
  expect(document && asKind(document, 'Tool')).toBeUndefined()
})

describe('a file', () => {
  test('of someone else is passed over', () => {
    for (const other of ['apiVersion: v1\nkind: Service\n', 'name: ci\non: push\n', '- 1\n', '', 'a: [\n'])
      expect(readDocuments({ path: 'x.yaml', text: other })).toEqual({ documents: [], findings: [] })
  })

  test('whose `apiVersion` is misspelt is ours', () => {
    const { findings } = readDocuments({ path: 'x.yaml', text: 'api_version: svc/v1\nspec: {}\n' })
    expect(findings.map(({ rule }) => rule)).toEqual(['doc/unknown-key', 'doc/kind-unknown'])
  })

  test('that was named is held to be a document', () => {
    const { findings } = readDocuments({ path: 'x.yaml', text: 'apiVersion: v1\nkind: Service\n' }, { named: true })
    expect(findings.map(({ rule }) => rule)).toEqual(['doc/api-version', 'doc/kind-unknown'])
  })

  test.each(['metadata: {name: refund}\nspec: {}\n', '{"name": "refund"}'])(
    'that says nothing of itself: %j',
    (text) => {
      const { findings } = readDocuments({ path: 'x.yaml', text }, { named: true })
      expect(findings.map(({ rule, message, fix }) => [rule, message, fix?.description])).toEqual([
        [
          'doc/kind-unknown',
          '`apiVersion: svc/v1` and `kind` are missing: Agent, Tool, Policy or Bundle.',
          'Begin with `apiVersion: svc/v1` and `kind: Agent|Tool|Policy|Bundle`.',
        ],
      ])
    },
  )

  test('may hold several documents', () => {
    const twice = `${text}---\n${text.replace('limit', 'other')}`
    expect(
      readDocuments({ path: 'p.yaml', text: twice }).documents.map(({ index, identity }) => [index, identity?.id]),
    ).toEqual([
      [0, 'pay.limit'],
      [1, 'pay.other'],
    ])
  })

  test('in UTF-16 is refused', () => {
    const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
    expect(readDocuments({ path: 'p.yaml', bytes }).findings.map(({ rule }) => rule)).toEqual(['doc/not-utf8'])
  })

  test('with a byte order mark is read, and warned of', () => {
    const { documents, findings } = readDocuments({ path: 'p.yaml', bytes: Buffer.from(`\uFEFF${text}`) })
    expect(findings.map(({ rule, severity }) => [rule, severity])).toEqual([['doc/bom', 'warning']])
    expect(documents[0]?.hasValidShape).toBe(true)
  })

  test('that is broken is reported where it breaks', () => {
    const { findings } = readDocuments({ path: 'p.yaml', text: 'apiVersion: svc/v1\nkind: [Policy\n' })
    expect(findings.map(({ rule, message, range }) => [rule, message, range.start.line, range.start.column])).toEqual([
      ['doc/syntax', 'A bracket or quote is not closed, or the next line is indented too little.', 2, 14],
    ])
  })
})
