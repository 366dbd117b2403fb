import { expect, test } from 'vitest'
import { innermostMessage } from '../../src/base/failure.ts'

test.each<[unknown, string]>([
  [new Error('a', { cause: new Error('b', { cause: new Error('c') }) }), 'c'],
  [new Error('a', { cause: new Error('') }), 'a'],
  [new Error('a', { cause: 'text' }), 'a'],
  ['text', 'text'],
])('%o: %s', (error, message) => {
  expect(innermostMessage(error)).toBe(message)
})

test('a chain of causes without an end is followed eight levels', () => {
  const loop = new Error('again')
  loop.cause = loop
  expect(innermostMessage(loop)).toBe('again')
})
