import { expect, test } from 'vitest'
import { parseUrl } from '../../src/base/net/parse-url.ts'

test('a text is a URL however often it was asked about', () => {
  const hosts = new Set<string | undefined>()
  // The engine of Node compiles what is called this often.
  for (let time = 0; time < 20_000; time++) hosts.add(parseUrl('https://münchen.de/x')?.hostname)
  expect([...hosts]).toEqual(['xn--mnchen-3ya.de'])
})

test('a text that is none has no parts, and one that is relative needs a base', () => {
  expect([parseUrl('münchen.de'), parseUrl('http://'), parseUrl('/x')]).toEqual([undefined, undefined, undefined])
  expect(parseUrl('/x', 'https://a.example/y')?.href).toBe('https://a.example/x')
})
