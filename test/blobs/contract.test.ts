import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytesOf, openStorage, textOf, type Opened } from './storage.ts'

let opened: Opened
beforeAll(async () => {
  opened = await openStorage()
})
afterAll(() => opened.close())

test('keeps bytes with their media type', async () => {
  const { blobs } = opened
  await blobs.put('ws/files/a.txt', bytesOf('hello'), 'text/plain')
  expect(await blobs.head('ws/files/a.txt')).toEqual({ sizeBytes: 5, mediaType: 'text/plain' })
  expect(textOf(await blobs.get('ws/files/a.txt'))).toBe('hello')
})

test('replaces what a key held', async () => {
  const { blobs } = opened
  await blobs.put('replaced', bytesOf('first'), 'text/plain')
  await blobs.put('replaced', bytesOf(''), 'text/csv')
  expect(await blobs.head('replaced')).toEqual({ sizeBytes: 0, mediaType: 'text/csv' })
  expect(textOf(await blobs.get('replaced'))).toBe('')
})

test('knows nothing of an absent key', async () => {
  const { blobs } = opened
  expect(await blobs.head('absent')).toBeUndefined()
  expect(await blobs.get('absent')).toBeUndefined()
  expect(await blobs.get('absent', { offset: 0, length: 0 })).toBeUndefined()
  await blobs.delete('absent')
})

test.each([
  [{ offset: 0, length: 4 }, '0123'],
  [{ offset: 3, length: 3 }, '345'],
  [{ offset: 8, length: 100 }, '89'],
  [{ offset: 10, length: 1 }, ''],
  [{ offset: 0, length: 0 }, ''],
])('reads the range %j', async (range, text) => {
  const { blobs } = opened
  await blobs.put('digits', bytesOf('0123456789'), 'text/plain')
  expect(textOf(await blobs.get('digits', range))).toBe(text)
})

test('moves an object with its media type', async () => {
  const { blobs } = opened
  await blobs.put('staging/ü 1+2%.pdf', bytesOf('pdf'), 'application/pdf')
  await blobs.move('staging/ü 1+2%.pdf', 'final/x.pdf')
  expect(await blobs.head('staging/ü 1+2%.pdf')).toBeUndefined()
  expect(await blobs.head('final/x.pdf')).toEqual({ sizeBytes: 3, mediaType: 'application/pdf' })
  await expect(blobs.move('staging/ü 1+2%.pdf', 'final/x.pdf')).rejects.toMatchObject({ code: 'not_uploaded' })
  expect(textOf(await blobs.get('final/x.pdf'))).toBe('pdf')
})

test('deletes an object', async () => {
  const { blobs } = opened
  await blobs.put('gone', bytesOf('x'), 'text/plain')
  await blobs.delete('gone')
  expect(await blobs.head('gone')).toBeUndefined()
})

test.each([
  '../../etc/passwd',
  '..',
  './a',
  'a//b',
  '/a',
  'a/',
  'a b+c%2F?&=#',
  'ключ/世界/😀',
  'CON',
  'x'.repeat(1024),
])('takes %j for a key and nothing else', async (key) => {
  const { blobs } = opened
  await blobs.put(key, bytesOf(key), 'text/plain')
  expect(textOf(await blobs.get(key))).toBe(key)
  await blobs.delete(key)
  expect(await blobs.head(key)).toBeUndefined()
})

test('writers of one key leave one of them whole', async () => {
  const { blobs } = opened
  const texts = Array.from({ length: 20 }, (_, at) => String(at).repeat(1000 + at))
  await Promise.all(texts.map((text) => blobs.put('contested', bytesOf(text), 'text/plain')))
  expect(texts).toContain(textOf(await blobs.get('contested')))
})
