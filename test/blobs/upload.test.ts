import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { bytesOf, openStorage, textOf, type Opened } from './storage.ts'

const curl = promisify(execFile)

/** What the storage's clock says; undefined for the time of day. */
let now: number | undefined
/** The storage's clock, which tests put forward and back. */
const clock: Clock = { now: () => now ?? Date.now(), monotonic: () => performance.now() }

let opened: Opened
beforeAll(async () => {
  opened = await openStorage({ clock })
})
afterAll(() => opened.close())

const presign = (key: string, maxBytes = 10) => opened.blobs.presignPut(key, 'text/plain', maxBytes, 900)
const put = (url: string, headers: Readonly<Record<string, string>>, body: BodyInit = 'hello') =>
  fetch(url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit)
const codeOf = (xml: string): string | undefined => /<Code>(.*?)<\/Code>/.exec(xml)?.[1]
const filesOnDisk = async (): Promise<number> => (await readdir(join(opened.directory, 'bytes'))).length

test('names the headers that must come along, and puts them and the bound under the signature', async () => {
  const { url, headers } = await presign('up/named')
  expect(headers).toEqual({ 'Content-Type': 'text/plain', 'x-amz-server-side-encryption': 'AES256' })
  const { pathname, searchParams } = new URL(url)
  expect(pathname).toBe('/svc/up/named')
  expect([...searchParams.keys()].toSorted()).toEqual([
    'X-Amz-Algorithm',
    'X-Amz-Content-Sha256',
    'X-Amz-Credential',
    'X-Amz-Date',
    'X-Amz-Expires',
    'X-Amz-Signature',
    'X-Amz-SignedHeaders',
    'x-id',
    'x-svc-max-length',
  ])
  expect(searchParams.get('X-Amz-SignedHeaders')).toBe('content-type;host;x-amz-server-side-encryption')
  expect(searchParams.get('X-Amz-Expires')).toBe('900')
  expect(searchParams.get('x-svc-max-length')).toBe('10')
})

test('a plain fetch with these headers uploads', async () => {
  const { url, headers } = await presign('up/fetch')
  const response = await put(url, headers)
  expect([response.status, response.headers.get('etag')]).toEqual([200, '"5d41402abc4b2a76b9719d911017c592"'])
  expect(await opened.blobs.head('up/fetch')).toEqual({ sizeBytes: 5, mediaType: 'text/plain' })
})

test('curl uploads a file, also one for which it asks first', async () => {
  const file = join(opened.directory, 'large')
  await writeFile(file, 'x'.repeat(2_000_000))
  const { url, headers } = await presign('up/curl', 2_000_000)
  const args = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const { stdout } = await curl('curl', ['-sS', '-w', '%{http_code}', '-T', file, ...args, url])
  expect(stdout).toBe('200')
  expect((await opened.blobs.head('up/curl'))?.sizeBytes).toBe(2_000_000)
})

test('an upload of exactly the bound is taken, also without a length', async () => {
  const { url, headers } = await presign('up/exact', 5)
  expect((await put(url, headers, new Blob(['hello']).stream())).status).toBe(200)
  expect(textOf(await opened.blobs.get('up/exact'))).toBe('hello')
})

test('one byte more is refused, and leaves nothing', async () => {
  const before = await filesOnDisk()
  const { url, headers } = await presign('up/over', 5)
  const announced = await put(url, headers, 'hello!')
  expect([announced.status, codeOf(await announced.text())]).toEqual([400, 'EntityTooLarge'])
  const streamed = await put(url, headers, new Blob(['hello!']).stream())
  expect([streamed.status, codeOf(await streamed.text())]).toEqual([400, 'EntityTooLarge'])
  expect(await opened.blobs.head('up/over')).toBeUndefined()
  expect(await filesOnDisk()).toBe(before)
})

test('a stream without end is cut', async () => {
  const before = await filesOnDisk()
  const { url, headers } = await presign('up/endless', 100_000)
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(10_000))
    },
  })
  const outcome = await put(url, headers, endless).then(
    (response) => response.status,
    () => 'cut',
  )
  expect([400, 'cut']).toContain(outcome)
  expect(await opened.blobs.head('up/endless')).toBeUndefined()
  expect(await filesOnDisk()).toBe(before)
})

test('an upload that breaks off leaves nothing, and what was there before stays', async () => {
  await opened.blobs.put('up/broken', bytesOf('before'), 'text/plain')
  const before = await filesOnDisk()
  const { url, headers } = await presign('up/broken', 1000)
  await new Promise<void>((resolve) => {
    const sending = request(url, { method: 'PUT', headers: { ...headers, 'Content-Length': '1000' } })
    sending.on('error', () => undefined)
    sending.on('close', () => resolve())
    sending.write('half', () => sending.destroy())
  })
  await expect.poll(filesOnDisk).toBe(before)
  expect(textOf(await opened.blobs.get('up/broken'))).toBe('before')
})

const altered = (url: string, change: (query: URLSearchParams) => void): string => {
  const other = new URL(url)
  change(other.searchParams)
  return other.href
}

test.each<[string, (url: string, headers: Readonly<Record<string, string>>) => Promise<Response>, number, string]>([
  ['a missing header', (url) => put(url, { 'Content-Type': 'text/plain' }), 403, 'AccessDenied'],
  [
    'another media type',
    (url, headers) => put(url, { ...headers, 'Content-Type': 'text/html' }),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'another encryption',
    (url, headers) => put(url, { ...headers, 'x-amz-server-side-encryption': 'aws:kms' }),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'a header that makes a copy of it',
    (url, headers) => put(url, { ...headers, 'x-amz-copy-source': '/svc/secret' }),
    403,
    'AccessDenied',
  ],
  [
    'a higher bound',
    (url, headers) =>
      put(
        altered(url, (query) => query.set('x-svc-max-length', '999')),
        headers,
      ),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'no bound',
    (url, headers) =>
      put(
        altered(url, (query) => query.delete('x-svc-max-length')),
        headers,
      ),
    403,
    'SignatureDoesNotMatch',
  ],
  ['two bounds', (url, headers) => put(`${url}&x-svc-max-length=999`, headers), 400, 'InvalidURI'],
  [
    'a longer life',
    (url, headers) =>
      put(
        altered(url, (query) => query.set('X-Amz-Expires', '9000')),
        headers,
      ),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'a later date',
    (url, headers) =>
      put(
        altered(url, (query) => query.set('X-Amz-Date', '20991231T000000Z')),
        headers,
      ),
    403,
    'RequestTimeTooSkewed',
  ],
  [
    'no date',
    (url, headers) =>
      put(
        altered(url, (query) => query.delete('X-Amz-Date')),
        headers,
      ),
    400,
    'AuthorizationQueryParametersError',
  ],
  [
    'fewer signed headers',
    (url) =>
      put(
        altered(url, (query) => query.set('X-Amz-SignedHeaders', 'host')),
        { 'Content-Type': 'text/plain' },
      ),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'an unsigned host',
    (url, headers) =>
      put(
        altered(url, (query) => query.set('X-Amz-SignedHeaders', 'content-type;x-amz-server-side-encryption')),
        headers,
      ),
    403,
    'AccessDenied',
  ],
  ['another key', (url, headers) => put(url.replace('/up/', '/other/'), headers), 403, 'SignatureDoesNotMatch'],
  ['another bucket', (url, headers) => put(url.replace('/svc/', '/other/'), headers), 403, 'SignatureDoesNotMatch'],
  [
    'another credential',
    (url, headers) => put(url.replace(/Credential=SVC/, 'Credential=XXX'), headers),
    403,
    'InvalidAccessKeyId',
  ],
  ['another method', (url, headers) => fetch(url, { headers }), 403, 'SignatureDoesNotMatch'],
  ['no signature', (url, headers) => put(url.split('?')[0]!, headers), 403, 'AccessDenied'],
  [
    'an empty signature',
    (url, headers) =>
      put(
        altered(url, (query) => query.set('X-Amz-Signature', '')),
        headers,
      ),
    403,
    'SignatureDoesNotMatch',
  ],
  [
    'a page of another origin',
    (url, headers) => put(url, { ...headers, Origin: 'http://evil.test' }),
    403,
    'AccessDenied',
  ],
])('refuses %s', async (_, call, status, code) => {
  const { url, headers } = await presign('up/refused')
  const response = await call(url, headers)
  expect([response.status, codeOf(await response.text())]).toEqual([status, code])
  expect(response.headers.get('access-control-allow-origin')).toBeNull()
  expect(await opened.blobs.head('up/refused')).toBeUndefined()
})

test('refuses a name that was rebound to loopback', async () => {
  const { url, headers } = await presign('up/rebound')
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(url, { method: 'PUT', headers: { ...headers, Host: 'evil.test' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sending.on('error', reject)
    sending.end('hello')
  })
  expect(status).toBe(403)
})

test('an address lives to its last second, and no longer', async () => {
  const { url, headers } = await presign('up/expired')
  const [, year, month, day, hour, minute, second] = /X-Amz-Date=(....)(..)(..)T(..)(..)(..)Z/.exec(url)!
  const signed = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  try {
    now = signed + 900_000
    expect((await put(url, headers)).status).toBe(200)
    now = signed + 901_000
    const late = await put(url, headers)
    expect([late.status, await late.text()]).toEqual([
      403,
      expect.stringContaining('<Message>Request has expired</Message>'),
    ])
    now = signed - 301_000
    const early = await put(url, headers)
    expect([early.status, codeOf(await early.text())]).toEqual([403, 'RequestTimeTooSkewed'])
    now = signed - 299_000
    expect((await put(url, headers)).status).toBe(200)
  } finally {
    now = undefined
  }
})

test('a failure is a document that S3 clients understand', async () => {
  const response = await fetch(`${opened.storage.endpoint}/svc/a<b>`)
  const id = response.headers.get('x-amz-request-id')
  expect(response.headers.get('content-type')).toBe('application/xml')
  expect(await response.text()).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      `<Error><Code>AccessDenied</Code><Message>The request is not signed.</Message><Resource>/svc/a%3Cb%3E</Resource><RequestId>${id}</RequestId></Error>`,
  )
})
