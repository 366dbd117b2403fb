import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createRedactor, Secret } from '../../src/base/secret.ts'

const VALUE = 'p@ss/"word"+1234'

test('printing a secret does not show it', () => {
  const secret = new Secret(VALUE)
  expect([String(secret), JSON.stringify({ secret }), inspect({ secret }), secret.toString()]).toEqual([
    '***',
    '{"secret":"***"}',
    '{ secret: *** }',
    '***',
  ])
  expect(secret.reveal()).toBe(VALUE)
})

test.each([
  ['as it is', VALUE],
  ['in base64', Buffer.from(VALUE).toString('base64')],
  ['URL-encoded', encodeURIComponent(VALUE)],
  ['JSON-escaped', JSON.stringify(VALUE).slice(1, -1)],
  ['JSON-escaped twice', JSON.stringify(JSON.stringify(VALUE).slice(1, -1)).slice(1, -1)],
])('a known value is blanked %s, in keys and values at any depth', (_, form) => {
  const redactor = createRedactor()
  redactor.add(new Secret(VALUE))
  const blanked = redactor.json({ a: [`before ${form} after`], [`key ${form}`]: { b: form } })
  expect(JSON.stringify(blanked).replaceAll(/\*{3}=+/g, '***')).toBe('{"a":["before *** after"],"key ***":{"b":"***"}}')
  expect(redactor.jsonText({ a: [form], b: 1 }).replaceAll(/\*{3}=+/g, '***')).toBe('{"a":["***"],"b":1}')
  expect(redactor.text(`x ${form} y`)).toMatch(/^x \*\*\*=* y$/)
})

test('a value that was read with the newline of its file is blanked without it, and forgotten', () => {
  const redactor = createRedactor()
  redactor.add(`${VALUE}\n`)
  expect(redactor.text(`a ${VALUE} b ${VALUE}\n`)).toBe('a *** b ***')
  redactor.remove(`${VALUE}\n`)
  expect(redactor.text(VALUE)).toBe(VALUE)
})

test('a clean value is given back as it is, and short values are not searched for', () => {
  const redactor = createRedactor()
  redactor.add('short')
  redactor.add(VALUE)
  const clean = { text: 'a short sentence' }
  expect(redactor.json(clean)).toBe(clean)
  expect(redactor.jsonText(clean)).toBe('{"text":"a short sentence"}')
  expect(createRedactor().jsonText(clean)).toBe('{"text":"a short sentence"}')
})

test.each([
  ['whole', [`a ${VALUE} b`]],
  ['letter by letter', Array.from(`a ${VALUE} b`)],
  ['in two', [`a ${VALUE.slice(0, 5)}`, `${VALUE.slice(5)} b`]],
])('a value in a stream is blanked, %s', (_, pieces) => {
  const redactor = createRedactor()
  redactor.add(VALUE)
  const stream = redactor.stream()
  expect(pieces.map((piece) => stream.push(piece)).join('') + stream.end()).toBe('a *** b')
})

test('text that only begins like a value is shown as soon as that is plain', () => {
  const redactor = createRedactor()
  redactor.add(VALUE)
  const stream = redactor.stream()
  expect([
    stream.push(`a ${VALUE.slice(0, 4)}`),
    stream.push(' then'),
    stream.push(VALUE.slice(0, 3)),
    stream.end(),
  ]).toEqual(['a ', `${VALUE.slice(0, 4)} then`, '', VALUE.slice(0, 3)])
})
