import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { mergeDocuments } from '../../src/import/merge.ts'

const leaf = fc.constantFrom<JsonValue>(1, 2, 'a', true, [1], [2])
const document = fc.letrec<{ node: JsonValue; map: JsonObject }>((tie) => ({
  map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node')),
  node: fc.oneof({ maxDepth: 3 }, leaf, tie('map')),
})).map

function apply(author: JsonObject, base: JsonObject, source: JsonObject): JsonObject {
  const merged = structuredClone(author)
  for (const { path, value } of mergeDocuments(base, author, source).edits) {
    if (path.length === 0) return value as JsonObject
    let at = merged
    for (const key of path.slice(0, -1)) at = at[key] as JsonObject
    if (value === undefined) delete at[path.at(-1)!]
    else at[path.at(-1)!] = value
  }
  return merged
}

test('an author who changed nothing gets the source', () => {
  fc.assert(
    fc.property(document, document, (base, source) => {
      expect(apply(base, base, source)).toEqual(source)
    }),
  )
})

test('a source that changed nothing changes nothing', () => {
  fc.assert(
    fc.property(document, document, (base, author) => {
      expect(apply(author, base, base)).toEqual(author)
    }),
  )
})

const leavesOf = (value: JsonValue | undefined, path = ''): [string, string][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, each]) => leavesOf(each, `${path}/${key}`))
    : [[path, JSON.stringify(value)]]

test('what an author wrote is never lost', () => {
  fc.assert(
    fc.property(document, document, document, (base, author, source) => {
      const before = new Map(leavesOf(base))
      const written = leavesOf(author).filter(([path, value]) => before.get(path) !== value)
      const after = new Map(leavesOf(apply(author, base, source)))
      expect(written.filter(([path, value]) => after.get(path) !== value)).toEqual([])
    }),
  )
})

test('what both changed is a conflict, and only that', () => {
  expect(mergeDocuments({ a: 1, b: 1, c: 1, d: 1 }, { a: 2, b: 1, c: 3 }, { a: 1, b: 2, c: 4, d: 2 })).toEqual({
    edits: [{ path: ['b'], value: 2 }],
    conflicts: [
      { path: ['c'], value: 4 },
      { path: ['d'], value: 2 },
    ],
  })
})
