/** Storages that speak S3 otherwise than Amazon: what they lack is done without, and what they refuse is named. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Blobs } from '../../src/blobs/blobs.ts'
import { createS3Blobs } from '../../src/blobs/s3.ts'
import { checkBucket } from '../../src/server/runtime/open/check-bucket.ts'
import { openS3 } from '../../src/server/runtime/open/storage.ts'
import { bytesOf, textOf } from './storage.ts'

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly answer: (status: number, body?: string, headers?: Readonly<Record<string, string>>) => void
}

const xml = (code: string, message = code): string => `<Error><Code>${code}</Code><Message>${message}</Message></Error>`

/** A storage that holds `0123456789` under each key, except for what `behaves` answers itself. */
async function storageThat(behaves: (exchange: Exchange) => boolean | void): Promise<Blobs> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const answer: Exchange['answer'] = (status, body = '', headers = {}) =>
        response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
      if (behaves({ request, response, answer }) === true) return
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
      const text = from === undefined ? '0123456789' : '0123456789'.slice(Number(from), Number(to) + 1)
      const copied = request.headers['x-amz-copy-source'] === undefined ? '' : '<CopyObjectResult></CopyObjectResult>'
      const body = request.method === 'PUT' ? copied : text
      answer(from === undefined ? 200 : 206, body, { 'content-length': String(body.length) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const blobs = createS3Blobs({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    bucket: 'files',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    forcePathStyle: true,
  })
  closing.push(async () => {
    await blobs.close()
    server.closeAllConnections()
    server.close()
  })
  return blobs
}
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

test.each([
  [501, xml('NotImplemented', 'Server side encryption specified but KMS is not configured')],
  [400, xml('InvalidArgument', 'The header x-amz-server-side-encryption is not supported')],
])('a storage that does not encrypt (%d) is no longer asked to', async (status, body) => {
  const asked: boolean[] = []
  const blobs = await storageThat(({ request, answer }) => {
    if (request.method !== 'PUT') return
    asked.push(request.headers['x-amz-server-side-encryption'] !== undefined)
    if (asked.at(-1)) answer(status, body)
    return asked.at(-1)
  })
  expect((await blobs.presignPut('a', 'text/plain', 10, 60)).headers).toEqual({
    'Content-Type': 'text/plain',
    'x-amz-server-side-encryption': 'AES256',
  })
  await blobs.put('a', bytesOf('a'), 'text/plain')
  await blobs.move('a', 'b')
  expect(asked).toEqual([true, false, false])
  const { url, headers } = await blobs.presignPut('a', 'text/plain', 10, 60)
  expect(headers).toEqual({ 'Content-Type': 'text/plain' })
  expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).toBe('content-type;host')
})

test('a storage that refuses for another reason goes on being asked to encrypt', async () => {
  const blobs = await storageThat(({ request, answer }) => {
    if (request.method !== 'PUT') return
    answer(403, xml('AccessDenied', 'Encryption with a key of KMS is required'))
    return true
  })
  await expect(blobs.put('a', bytesOf('a'), 'text/plain')).rejects.toMatchObject({ code: 'bucket_unusable' })
  expect((await blobs.presignPut('a', 'text/plain', 10, 60)).headers).toHaveProperty('x-amz-server-side-encryption')
})

test('a storage that does not know ranges gives the part that was asked for', async () => {
  const blobs = await storageThat(({ request }) => void delete request.headers.range)
  expect(textOf(await blobs.get('a', { offset: 3, length: 2 }))).toBe('34')
  expect(textOf(await blobs.get('a', { offset: 20, length: 2 }))).toBe('')
})

test('an object whose length is not said is measured', async () => {
  const blobs = await storageThat(({ request, response }) => {
    if (request.method !== 'HEAD') return
    response.writeHead(200, { 'transfer-encoding': 'chunked' }).end()
    return true
  })
  expect(await blobs.head('a')).toMatchObject({ sizeBytes: 10 })
})

test('an object that is not there is deleted already', async () => {
  const blobs = await storageThat(({ answer }) => (answer(404, xml('NoSuchKey')), true))
  await expect(blobs.delete('a')).resolves.toBeUndefined()
})

test('the page of a proxy does not say that an object is missing', async () => {
  const page = '<html><title>404 Not Found</title></html>'
  const blobs = await storageThat(({ answer }) => (answer(404, page, { 'content-type': 'text/html' }), true))
  await expect(blobs.get('a')).rejects.toThrow(
    'The bucket s3://files cannot be used now: to get an object failed (HTTP 404 without an error of S3).',
  )
})

test('a proxy that answers everything with a page is no bucket', async () => {
  const blobs = await storageThat(({ answer }) => (answer(200, '<html>Sign in</html>'), true))
  await expect(checkBucket(blobs, 's3://files')).rejects.toThrow(
    'The bucket s3://files cannot be used now: to get an object failed (it was not what had been put).',
  )
})

test.each([
  [403, '<html>Forbidden</html>', 'HTTP 403 without an error of S3'],
  [403, '', 'HTTP 403 without an error of S3'],
  [403, '<Error><Message>no</Message></Error>', 'HTTP 403: no'],
  [403, xml('RequestTimeTooSkewed', 'The clocks differ.'), 'RequestTimeTooSkewed: The clocks differ'],
  [400, xml('ExpiredToken', 'The token has expired.'), 'ExpiredToken: The token has expired'],
  [404, xml('NoSuchBucket', 'No such bucket.'), 'NoSuchBucket: No such bucket'],
  [301, xml('PermanentRedirect', 'Use another endpoint.'), 'PermanentRedirect: Use another endpoint'],
])('what a storage refuses with %d %s is named', async (status, body, why) => {
  const blobs = await storageThat(({ answer }) => (answer(status, body), true))
  await expect(blobs.put('a', bytesOf('a'), 'text/plain')).rejects.toMatchObject({
    code: 'bucket_unusable',
    status: 503,
    message: `The bucket s3://files cannot be used now: to put an object failed (${why}).`,
  })
})

const ENDPOINT = 'endpoint=https://s3.example'
const FORM = 'is not of the form s3://bucket?endpoint=…'
const CREDENTIALS = 'has credentials: they belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
const NO_ENDPOINT = 'has an endpoint that is not of the form https://host[:port]'

test.each([
  [`s3://files/desk?${ENDPOINT}`, `s3://files/desk?${ENDPOINT} ${FORM}`],
  [`s3://files:9000?${ENDPOINT}`, `s3://files:9000?${ENDPOINT} ${FORM}`],
  [`s3://key:hunter2@files?${ENDPOINT}`, `s3://files?${ENDPOINT} ${CREDENTIALS}`],
  ['s3://files?endpoint=https://key:hunter2@s3.example', `(unreadable address) ${CREDENTIALS}`],
  ['s3://files?endpoint=', `s3://files?endpoint= ${NO_ENDPOINT}`],
  ['s3://files?endpoint=minio:9000', `s3://files?endpoint=(unreadable address) ${NO_ENDPOINT}`],
])('the address %s is refused, since a part of it would not be used', (url, why) => {
  expect(() => openS3(url)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(why) }),
  )
})

test.each([
  [undefined, 'https://files.s3.eu-west-1.amazonaws.com'],
  ['us-west-2', 'https://files.s3.us-west-2.amazonaws.com'],
])('the region of the address counts unless the configuration names one (%s)', async (region, url) => {
  const opened = openS3('s3://files/?region=eu-west-1', region)
  expect(opened.url).toBe(url)
  await opened.close(0)
})
