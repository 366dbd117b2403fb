import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedText, editsBetween, offsetAt, positionAt } from '../../src/lsp/text.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\r', '\r\n', '😀') })

test('the edit between two texts makes one of the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changed = editsBetween(before, after).map(({ range, newText }) => ({ range, text: newText }))
      expect(changed.reduce(changedText, before)).toBe(after)
    }),
  )
})

test('it is of the lines that differ', () => {
  expect(editsBetween('a\r\nb\r\nc\r\n', 'a\r\nB\r\nc\r\n')).toEqual([
    { range: { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } }, newText: 'B\r\n' },
  ])
  expect(editsBetween('a\n', 'a\n')).toEqual([])
})

test('a place that is not inside a line break is counted and found again', () => {
  fc.assert(
    fc.property(text, fc.nat(), (all, seed) => {
      const offset = seed % (all.length + 1)
      fc.pre(!(all[offset - 1] === '\r' && all[offset] === '\n'))
      expect(offsetAt(all, positionAt(all, offset))).toBe(offset)
    }),
  )
})
