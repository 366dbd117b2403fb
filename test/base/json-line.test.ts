import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toJsonLine } from '../../src/base/json/json-line.ts'

/** Where Python's `str.splitlines` ends a line, which of all readers knows the most line ends. */
const LINE_ENDS = ['\n', '\r', '\v', '\f', '\x1C', '\x1D', '\x1E', '\u0085', '\u2028', '\u2029']

test('a value on a line is one line to every reader, and the same value', () => {
  const piece = fc.constantFrom('a', '\\', '"', '\r\n', '😀', ...LINE_ENDS)
  const text = fc.array(piece).map((pieces) => pieces.join(''))
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.array(tie('any')), fc.dictionary(text, tie('any'))),
  })).any
  fc.assert(
    fc.property(value, (given) => {
      const line = toJsonLine(given)
      expect(LINE_ENDS.filter((end) => line.includes(end))).toEqual([])
      expect(JSON.parse(line)).toEqual(given)
    }),
  )
})
