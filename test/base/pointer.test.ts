import { describe, expect, test } from 'vitest'
import { pointerTo, segmentsOf } from '../../src/base/json/pointer.ts'
import { resolveReference, valueAt } from '../../src/base/json/resolve-pointer.ts'

/** The document of RFC 6901, section 5. */
const document = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
}

test.each([
  ['', document],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
  ['/nothing', undefined],
  ['/foo/2', undefined],
  ['/foo/length', undefined],
  ['/toString', undefined],
  ['/foo/0/0', undefined],
])('%j points to %j', (pointer, value) => {
  expect(valueAt(document, pointer)).toEqual(value)
})

test('a pointer is read as it was written, whatever the keys are', () => {
  const keys = ['a/b', 'm~n', '~1', '', '0']
  expect(segmentsOf(keys.reduce<string>(pointerTo, ''))).toEqual(keys)
})

describe('a reference within a schema', () => {
  const root = { $defs: { 'a b': { type: 'string' }, 'x/y': true, own: { $id: 'urn:own', $defs: { in: true } } } }

  test.each([
    ['#', root],
    ['#/$defs/a%20b', { type: 'string' }],
    ['#/$defs/x~1y', true],
    ['#/$defs/own/$defs/in', true],
    ['#/$defs/none', undefined],
    ['#/$defs/%zz', undefined],
    ['#anchor', undefined],
    ['other.json#/$defs/x~1y', undefined],
  ])('%j leads to %j', (ref, part) => {
    expect(resolveReference(root, ref)).toEqual(part)
  })

  test('does not lead through a part that it must not pass', () => {
    const mayPass = (part: unknown): boolean => !Object.hasOwn(part as object, '$id')
    expect(resolveReference(root, '#/$defs/own/$defs/in', mayPass)).toBeUndefined()
    expect(resolveReference(root, '#/$defs/a%20b', mayPass)).toEqual({ type: 'string' })
  })
})
