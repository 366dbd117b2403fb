import { expect, test } from 'vitest'
import fc from 'fast-check'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { ParameterStyle, RecordedOperation } from '../../src/spec/project/operation-record.ts'
import { buildOperationRequest, OperationRequestError } from '../../src/tools/openapi/request.ts'
import { writeFields, writePathPart, writeSimple } from '../../src/tools/openapi/style.ts'

const COLOR = { empty: '', string: 'blue', array: ['blue', 'black', 'brown'], object: { R: 100, G: 200, B: 150 } }

/** The table "Style Examples" of OpenAPI 3.1.1, for a parameter named `color`; `n/a` where it gives none. */
const STYLES: readonly [ParameterStyle, boolean, string, string, string, string][] = [
  ['matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['spaceDelimited', false, 'n/a', 'n/a', 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150'],
  ['pipeDelimited', false, 'n/a', 'n/a', 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['deepObject', true, 'n/a', 'n/a', 'n/a', 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
]

const write = (style: ParameterStyle, explode: boolean, value: JsonValue): string =>
  ['simple', 'label', 'matrix'].includes(style)
    ? writePathPart('color', value, { style, explode })
    : writeFields('color', value, { style, explode })
        .map((pair) => pair.join('='))
        .join('&')

test.each(STYLES)('style %s with explode %s is written as the specification shows', (style, explode, ...expected) => {
  const written = Object.values(COLOR).map((value, at) =>
    expected[at] === 'n/a' ? 'n/a' : write(style, explode, value),
  )
  expect(written).toEqual(expected)
})

test.each<[ParameterStyle, boolean, JsonValue, string]>([
  ['form', true, 'a b&c=d/é?#%', 'color=a%20b%26c%3Dd%2F%C3%A9%3F%23%25'],
  ['form', false, ['a,b', 'c'], 'color=a%2Cb,c'],
  ['form', true, [], ''],
  ['form', false, [], ''],
  ['form', true, ["it's", '(x)*!'], 'color=it%27s&color=%28x%29%2A%21'],
  ['form', true, [true, 0, -1.5], 'color=true&color=0&color=-1.5'],
  ['form', true, '\ud800', 'color=%EF%BF%BD'],
  ['pipeDelimited', false, ['a b', 'c&d'], 'color=a%20b%7Cc%26d'],
  ['simple', false, ['a/b', '..', 'ü'], 'a%2Fb,..,%C3%BC'],
  [
    'deepObject',
    true,
    { a: { b: [1, { c: 'x y' }] }, n: null },
    'color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=x%20y',
  ],
  ['json', true, { a: [1, 'ü'] }, 'color=%7B%22a%22%3A%5B1%2C%22%C3%BC%22%5D%7D'],
])('style %s with explode %s escapes %j', (style, explode, value, expected) => {
  expect(write(style, explode, value)).toBe(expected)
})

test.each<[ParameterStyle, boolean, JsonValue, string]>([
  ['spaceDelimited', false, ['a b'], 'an item contains " ", which divides items in style spaceDelimited'],
  ['pipeDelimited', false, ['a|b'], 'an item contains "|", which divides items in style pipeDelimited'],
  ['form', true, [['a']], 'style form has no form for a value inside a value'],
  ['form', false, { a: { b: 1 } }, 'style form has no form for a value inside a value'],
])('style %s with explode %s refuses %j', (style, explode, value, message) => {
  expect(() => write(style, explode, value)).toThrow(message)
})

test('an item of a header list may not contain the comma that divides items', () => {
  expect(() => writeSimple(['a,b'], false, (text) => text)).toThrow('an item contains ","')
})

test('a query field is read back as it was given, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (name, value) => {
      const url = new URL(
        `https://api.example/?${write('form', true, value)}&${writeFields(name, value, { style: 'form', explode: true })[0]!.join('=')}`,
      )
      expect([...url.searchParams]).toEqual([
        ['color', value],
        [name, value],
      ])
    }),
  )
})

const byId: RecordedOperation = {
  method: 'DELETE',
  path: '/orders/{id}',
  parameters: [{ argument: 'id', name: 'id', in: 'path', style: 'simple', explode: false }],
}

/** Path, query and fragment of the request; undefined where it is refused. */
function partsFor(id: string): readonly string[] | undefined {
  try {
    const url = new URL(buildOperationRequest('https://api.example/v1/', byId, { id }, []).url)
    return [...url.pathname.split('/').map(decodeURIComponent), url.search, url.hash]
  } catch (error) {
    if (error instanceof OperationRequestError) return undefined
    throw error
  }
}

test('no value leads out of the segment of its parameter', () => {
  const hostile = fc.constantFrom('..', '.', '', '%2e%2E', '/', '\\', '?', '#', '//x', 'a/../..', ';', '.;')
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), hostile), (id) => {
      const isRefused = id === '' || id.split(/[/\\]/).some((part) => part === '.' || part === '..')
      expect(partsFor(id)).toEqual(isRefused ? undefined : ['', 'v1', 'orders', id.toWellFormed(), '', ''])
    }),
  )
})

test.each<[JsonValue, string]>([
  [{ id: '' }, 'The path needs a value for {id}.'],
  [{}, 'The path needs a value for {id}.'],
  [{ id: null }, 'The path needs a value for {id}.'],
  [{ id: '..' }, 'A segment of the path /orders/.. would lead elsewhere.'],
  [{ id: '../users' }, 'A segment of the path /orders/..%2Fusers would lead elsewhere.'],
  [{ id: 'a/../../users' }, 'A segment of the path /orders/a%2F..%2F..%2Fusers would lead elsewhere.'],
  [{ id: '..\\users' }, 'A segment of the path /orders/..%5Cusers would lead elsewhere.'],
  [{ id: 'A-1', all: true }, 'The operation has no place for the argument "all".'],
])('a request with %j is refused', (given, message) => {
  expect(() => buildOperationRequest('https://api.example', byId, given, [])).toThrow(
    new OperationRequestError(message),
  )
})

test.each<[string, string, string]>([
  ['X-Note', 'a\r\nX-Admin: 1', 'The argument "note" cannot be sent: a header has no form for its characters.'],
  ['X-Note', 'price €', 'The argument "note" cannot be sent: a header has no form for its characters.'],
  ['Authorization', 'Bearer x', 'The argument "note" cannot be sent: no argument sets the header Authorization.'],
  ['HOST', 'evil.example', 'The argument "note" cannot be sent: no argument sets the header HOST.'],
  ['Idempotency-Key', '1', 'The argument "note" cannot be sent: no argument sets the header Idempotency-Key.'],
])('header %s with %j is refused', (name, note, message) => {
  const operation: RecordedOperation = {
    method: 'GET',
    path: '/',
    parameters: [{ argument: 'note', name, in: 'header', style: 'simple', explode: false }],
  }
  expect(() => buildOperationRequest('https://api.example', operation, { note }, [])).toThrow(message)
})
