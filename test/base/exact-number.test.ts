import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InexactNumberError, isExactNumber, unsafeNumberIn } from '../../src/base/json/exact-number.ts'
import { parseJson } from '../../src/base/json/json.ts'

test.each([
  ['0', true],
  ['-0', true],
  ['0.1', true],
  ['1.50', true],
  ['12.345e2', true],
  ['9007199254740991', true],
  ['-9007199254740991', true],
  ['9007199254740992', false],
  ['9007199254740993', false],
  ['-9007199254740993', false],
  ['9007199254740993.0', false],
  ['0.9007199254740993e16', false],
  ['1e15', true],
  ['1e16', false],
  ['1e400', false],
  ['-1e400', false],
  ['1e-400', false],
  ['0e400', true],
  ['5e-324', true],
  // What other programs print for the same double.
  ['0.10000000000000001', true],
  ['0.10000000000000000555', true],
  ['0.1000000000000000055511151231257827021181583404541015625', true],
  ['0.10000000000000001234', false],
  ['1234567890.123456789', false],
  ['1'.padEnd(16, '0'), true],
  [`0.${'1'.repeat(200)}`, false],
])('%s is kept exactly: %s', (written, kept) => {
  expect(isExactNumber(written)).toBe(kept)
})

const digits = (maxLength: number) => fc.stringMatching(new RegExp(String.raw`^\d{1,${maxLength}}$`))
const sign = fc.constantFrom('', '-')
const written = fc.oneof(
  fc.tuple(sign, fc.bigInt({ min: 0n, max: 2n ** 70n })).map(([minus, whole]) => `${minus}${whole}`),
  fc.tuple(sign, fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n })).map(([minus, whole]) => `${minus}${whole}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(
      sign,
      fc.nat(),
      fc.option(digits(25)),
      fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(420))),
    )
    .map(
      ([minus, whole, fraction, power]) =>
        `${minus}${whole}${fraction === null ? '' : `.${fraction}`}${power ? power.join('') : ''}`,
    ),
)

/** The value of a decimal text as a fraction, exactly. */
function fractionOf(text: string): readonly [bigint, bigint] {
  const [, minus, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text)!
  const places = Number(power) - fraction.length
  const top = BigInt(`${minus}${whole}${fraction}`)
  return places >= 0 ? [top * 10n ** BigInt(places), 1n] : [top, 10n ** BigInt(-places)]
}
const isEqual = (a: string, b: string): boolean => {
  const [[aTop, aBottom], [bTop, bBottom]] = [fractionOf(a), fractionOf(b)]
  return aTop * bBottom === bTop * aBottom
}
const isBeyond = (text: string): boolean => {
  const [top, bottom] = fractionOf(text)
  return (top < 0n ? -top : top) > (2n ** 53n - 1n) * bottom
}

const PLACES = [
  { around: '%', pointer: '' },
  { around: '{"a": [true, %]}', pointer: '/a/1' },
  { around: String.raw`["\"9007199254740993", {"x/y": %}]`, pointer: '/1/x~1y' },
]

/** What becomes of a number at some place of a JSON text: its value, or the place that a refusal names. */
function readAt(text: string, around: string): { readonly kept: number } | { readonly refusedAt: string } {
  try {
    const found = /-?[\d.e+-]+(?=[\]}]*$)/i.exec(JSON.stringify(parseJson(around.replace('%', text))))![0]
    return { kept: Number(found) }
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    return { refusedAt: error.pointer }
  }
}

/** True where a text is the number as it prints, by itself or with as many digits. */
function isPrintOf(number: number, text: string): boolean {
  const places = text
    .replace(/e.*/i, '')
    .replace(/^-?[0.]*/, '')
    .replace('.', '').length
  return [String(number), number.toPrecision(Math.max(1, Math.min(100, places)))].some((each) => isEqual(text, each))
}

test('a number in JSON keeps its value, digit for digit, or is refused with its place', () => {
  fc.assert(
    fc.property(written, fc.constantFrom(...PLACES), (text, { around, pointer }) => {
      const read = readAt(text, around)
      const isFit = !isBeyond(text) && isPrintOf(Number(text), text)
      expect(read).toEqual(isFit ? { kept: Number(text) + 0 } : { refusedAt: pointer })
    }),
    { numRuns: 2000 },
  )
})

test('digits in strings are not numbers', () => {
  const text = JSON.stringify({ id: '9007199254740993', say: 'at "1e400" \\', 'key 12345678901234567890': [1] })
  expect(parseJson(text)).toEqual(JSON.parse(text))
})

test('the first inexact number of a value parsed elsewhere is found', () => {
  expect(unsafeNumberIn({ a: [1, { 'b/c': 2 ** 53 }], d: Infinity })).toEqual({ pointer: '/a/1/b~1c', value: 2 ** 53 })
  expect(unsafeNumberIn({ a: [1, 'x', null], d: -(2 ** 53) + 1 })).toBeUndefined()
})
