import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countLeading, dropOldest, groupBy, onlyItem } from '../../src/base/values/collections.ts'

test('values are grouped by key, and keys and values keep their order', () => {
  expect([...groupBy(['b1', 'a1', 'b2'], (text) => text.slice(0, 1))]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})

test('a list of one has an only item, others have none', () => {
  expect([onlyItem([]), onlyItem(['a']), onlyItem(['a', 'b'])]).toEqual([undefined, 'a', undefined])
})

test('bisection counts as many leading items as a walk does', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(20), (numbers, bound) => {
      const sorted = numbers.toSorted((a, b) => a - b)
      expect(countLeading(sorted, (each) => each < bound)).toBe(sorted.filter((each) => each < bound).length)
    }),
  )
})

test('the keys that were added first leave a map and a set, and no more than needed', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ])
  dropOldest(map, 2)
  dropOldest(map, 2)
  expect([...map.keys()]).toEqual(['b', 'c'])
  const set = new Set([1, 2, 3])
  dropOldest(set, 0)
  expect(set.size).toBe(0)
})
