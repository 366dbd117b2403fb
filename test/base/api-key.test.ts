import { assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { createApiKeySecret, hashKey, isWellFormedKey, keyPrefixOf } from '../../src/base/api-key.ts'

test('is svc_, 32 characters of randomness and a checksum', () => {
  const zeros = createApiKeySecret((bytes) => void bytes.fill(0))
  expect(zeros).toBe('svc_000000000000000000000000000000003oy8NO')
  expect(isWellFormedKey(zeros)).toBe(true)
  expect(keyPrefixOf(zeros)).toBe('svc_0000')
})

test('every character is as likely as any other: bytes that would favour some are thrown away', () => {
  let next = 0
  const secret = createApiKeySecret((bytes) =>
    bytes.forEach((_, at) => (bytes[at] = at % 2 === 0 ? 248 + (next++ % 8) : 61)),
  )
  expect(secret.slice(4, 36)).toBe('z'.repeat(32))
})

test('ten thousand are all different and all well-formed', () => {
  const secrets = new Set(Array.from({ length: 10_000 }, () => createApiKeySecret()))
  expect(secrets.size).toBe(10_000)
  expect([...secrets].every(isWellFormedKey)).toBe(true)
})

test('one changed character is detected', () => {
  const secret = createApiKeySecret()
  const characters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')
  assert(
    property(integer({ min: 4, max: secret.length - 1 }), constantFrom(...characters), (at, character) => {
      const changed = secret.slice(0, at) + character + secret.slice(at + 1)
      expect(isWellFormedKey(changed)).toBe(changed === secret)
    }),
  )
})

test.each([
  '',
  'svc_',
  'svc_short',
  ` ${createApiKeySecret()}`,
  `${createApiKeySecret()}\n`,
  createApiKeySecret().replace('svc_', 'SVC_'),
])('is not well-formed: %j', (text) => {
  expect(isWellFormedKey(text)).toBe(false)
})

test('is kept as its SHA-256', () => {
  expect(hashKey('svc_')).toBe('bdfed50954f37cf1cb5d2eb94b13a7df5e64e29f3e0efe5a279c399d21bc5c78')
})
