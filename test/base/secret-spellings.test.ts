/** No form in which a secret is written shows more than four characters of it, wherever its text is split or cut. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'

const json = (text: string): string => JSON.stringify(text).slice(1, -1)
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const hex = (text: string): string => Buffer.from(text).toString('hex')
const everyUnit = (text: string, spell: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => spell(text.charCodeAt(at))).join('')
const everyCharacter = (text: string, spell: (code: number) => string): string =>
  Array.from(text, (each) => spell(each.codePointAt(0)!)).join('')
const everyByte = (text: string, spell: (byte: number) => string): string =>
  Array.from(Buffer.from(text), spell).join('')
const twoDigits = (byte: number): string => byte.toString(16).padStart(2, '0')
const fourDigits = (code: number): string => code.toString(16).padStart(4, '0')
const html = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** A spelling that is met elsewhere is one line more. */
const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in JSON': json,
  'in JSON with \\/': (secret) => json(secret).replaceAll('/', '\\/'),
  'in JSON twice': (secret) => json(json(secret)),
  'in JSON three times': (secret) => json(json(json(secret))),
  'as \\u escapes': (secret) => everyUnit(secret, (code) => `\\u${fourDigits(code)}`),
  'as \\U escapes in capitals': (secret) => everyUnit(secret, (code) => `\\u${fourDigits(code).toUpperCase()}`),
  'as \\u escapes in JSON': (secret) => json(everyUnit(secret, (code) => `\\u${fourDigits(code)}`)),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (each) => each.toLowerCase()),
  'percent-encoded as a whole': (secret) => everyByte(secret, (byte) => `%${twoDigits(byte)}`),
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'in a form': (secret) => new URLSearchParams({ a: secret }).toString().slice(2),
  'in HTML': html,
  'in HTML twice': (secret) => html(html(secret)),
  'as decimal entities': (secret) => everyCharacter(secret, (code) => `&#${code};`),
  'as hexadecimal entities': (secret) => everyCharacter(secret, (code) => `&#x${code.toString(16)};`),
  'in base64': base64,
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in base64 in JSON with \\/': (secret) => base64(secret).replaceAll('/', '\\/'),
  'in base64 in an address': (secret) => encodeURIComponent(base64(secret)),
  'in hexadecimal': hex,
  'in hexadecimal capitals': (secret) => hex(secret).toUpperCase(),
  'with line ends of Windows': (secret) => secret.replaceAll('\n', '\r\n'),
}

/** The secret within something that is spelled as a whole. */
const SURROUNDED: readonly (readonly [name: string, before: string, behind: string])[] = [
  ['in base64 behind a user', 'user:', ''],
  ['in base64 behind another user', 'users:', ''],
  ['in base64 behind a third user', 'userab:', ''],
  ['in base64 between others', 'me:', ':you'],
]

/** Of any characters, not of one alone, and well-formed: a variable of the environment is. */
const secrets = fc
  .oneof(
    fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme' }),
    fc.string({
      minLength: 8,
      maxLength: 40,
      unit: fc.constantFrom(...Array.from(String.raw`aB3/+\"'%&<> -_=;:n0`), '\n', 'é'),
    }),
    fc.stringMatching(/^[1-9]\d{8,14}$/),
  )
  .filter((secret) => secret.isWellFormed() && !secret.includes('\r') && new Set(secret).size > 4)

/** The longest stretch of the spelled secret that stands in the shown text. */
function longestShown(shown: string, spelled: string): number {
  let longest = 0
  for (let from = 0; from < spelled.length; from++)
    while (from + longest < spelled.length && shown.includes(spelled.slice(from, from + longest + 1))) longest++
  return longest
}

/** Characters around it that occur in no secret. */
const around = fc.string({ maxLength: 8, unit: fc.constantFrom('§', '¶', '。') })

describe.each(Object.entries(SPELLINGS))('a secret %s', (_, spell) => {
  const cases = fc.tuple(secrets, around, around).map(([secret, before, behind]) => {
    const redactor = createRedactor()
    redactor.add(secret)
    // The padding of base64 says nothing.
    const spelled = spell(secret).replace(/(?:=|%3D)+$/, '')
    return { redactor, spelled, text: before + spell(secret) + behind }
  })

  test('is redacted in text, and in JSON keys and values', () => {
    fc.assert(
      fc.property(cases, ({ redactor, spelled, text }) => {
        expect(longestShown(redactor.text(text), spelled)).toBeLessThanOrEqual(4)
        const value = { [text]: [text] }
        const shown = Object.entries(redactor.json(value)).flat(2).join('¶')
        expect(longestShown(shown, spelled)).toBeLessThanOrEqual(4)
        expect(JSON.parse(redactor.jsonText(value))).toEqual(redactor.json(value))
      }),
      { numRuns: 40 },
    )
  })

  test('is redacted however its text is split', () => {
    fc.assert(
      fc.property(cases, fc.array(fc.nat(200), { maxLength: 6 }), ({ redactor, spelled, text }, cuts) => {
        const places = [0, ...cuts.filter((at) => at < text.length).toSorted((a, b) => a - b)]
        const stream = redactor.stream()
        const shown = places.map((at, index) => stream.push(text.slice(at, places[index + 1] ?? text.length)))
        expect(shown.join('') + stream.end()).toBe(redactor.text(text))
        expect(longestShown(shown.join(''), spelled)).toBeLessThanOrEqual(4)
      }),
      { numRuns: 40 },
    )
  })

  test('is redacted wherever its text is cut', () => {
    fc.assert(
      fc.property(cases, fc.nat(200), ({ redactor, spelled, text }, most) => {
        for (const keep of ['start', 'end'] as const)
          expect(longestShown(redactor.cut(text, most, keep).text, spelled)).toBeLessThanOrEqual(4)
        const stream = redactor.stream()
        expect(longestShown(stream.push(text.slice(0, most)) + stream.end(true), spelled)).toBeLessThanOrEqual(4)
      }),
      { numRuns: 40 },
    )
  })
})

test.each(SURROUNDED)('a secret %s is redacted, in both alphabets', (_, before, behind) => {
  fc.assert(
    fc.property(secrets, fc.nat(100), (secret, at) => {
      const redactor = createRedactor()
      redactor.add(secret)
      for (const alphabet of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + secret + behind).toString(alphabet)
        const from = Buffer.byteLength(before)
        const to = from + Buffer.byteLength(secret)
        const spelled = text.slice(Math.floor((from * 8) / 6), Math.ceil((to * 8) / 6))
        const stream = redactor.stream()
        const streamed = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end()
        expect(streamed).toBe(redactor.text(text))
        expect(longestShown(streamed, spelled)).toBeLessThanOrEqual(4)
      }
    }),
    { numRuns: 40 },
  )
})

test('secrets that begin or overlap each other show nothing of each other, however their text is split', () => {
  fc.assert(
    fc.property(secrets, secrets, fc.nat(20), fc.nat(100), (one, rest, overlap, at) => {
      const redactor = createRedactor()
      redactor.add(one)
      const long = one.slice(Math.min(overlap, one.length - 1)) + rest
      redactor.add(long)
      redactor.add(one + rest)
      const text = `§${one}${rest}§`
      expect(redactor.text(text)).toBe('§***§')
      const stream = redactor.stream()
      expect(stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end()).toBe('§***§')
    }),
  )
})

test('a secret that is a number is redacted where it is one', () => {
  const redactor = createRedactor()
  redactor.add('0123456789')
  redactor.add('987654321')
  expect(redactor.json({ a: 123456789, b: [987654321], c: 12 })).toEqual({ a: '***', b: ['***'], c: 12 })
})

test('long text takes time in proportion to its length', () => {
  const redactor = createRedactor()
  for (let each = 0; each < 30; each++) redactor.add(`sk-live-${each}-${'x'.repeat(30)}`)
  for (const text of ['\\'.repeat(100_000), 'sk-live-'.repeat(12_000), '%25'.repeat(30_000), '&amp;'.repeat(20_000)]) {
    const before = process.cpuUsage()
    redactor.text(text)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(3000)
  }
})
