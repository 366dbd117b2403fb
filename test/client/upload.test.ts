import { expect, test } from 'vitest'
import {
  fileItem,
  fileRef,
  SvcClient,
  type UploadOptions,
  type UploadSource,
} from '../../clients/typescript/src/index.ts'
import { verifies } from '../api/verifies.ts'
import { fakeFetch, json, type Answer } from './fake-fetch.ts'

const REQUIRED = { 'Content-Type': 'application/pdf', 'x-amz-server-side-encryption': 'AES256' }
const presigned = (n: number): Response =>
  json({
    objectKey: `ws/files/0193c7-${n}-invoice.pdf`,
    uploadUrl: `http://uploads.test/objects/staging-${n}?X-Amz-Signature=abc`,
    httpMethod: 'PUT',
    requiredHeaders: REQUIRED,
    expiresInSeconds: 900,
  })
const stored = new Response(null, { status: 200 })
const finalized = json({
  objectKey: 'ignored',
  filename: 'ignored',
  mediaType: 'ignored',
  sizeBytes: 3,
  alreadyFinalized: false,
})

const clientOf = (...answers: Answer[]) => {
  const { fetch, sent } = fakeFetch(...answers)
  return { client: new SvcClient({ apiKey: 'svc_test', baseUrl: 'http://svc.test', fetch }), sent }
}

verifies('client.upload', async () => {
  const { client, sent } = clientOf(presigned(1), stored, finalized)
  const file = new File(['abc'], 'invoice.pdf', { type: 'application/pdf' })
  expect(await client.uploadWorkspaceFile(file)).toEqual({
    objectKey: 'ws/files/0193c7-1-invoice.pdf',
    filename: '0193c7-1-invoice.pdf',
    mediaType: 'application/pdf',
  })
  const ours = { 'x-api-key': 'svc_test', 'x-svc-client': 'ts/0.1.0', 'content-type': 'application/json' }
  const asked = { filename: 'invoice.pdf', mediaType: 'application/pdf', maxContentLength: 3 }
  expect(sent).toEqual([
    { method: 'POST', url: 'http://svc.test/v1/file-library/presign', headers: ours, body: asked },
    {
      method: 'PUT',
      url: 'http://uploads.test/objects/staging-1?X-Amz-Signature=abc',
      headers: { 'content-type': 'application/pdf', 'x-amz-server-side-encryption': 'AES256' },
      body: file,
    },
    {
      method: 'POST',
      url: 'http://svc.test/v1/file-library/finalize',
      headers: ours,
      body: { objectKey: 'ws/files/0193c7-1-invoice.pdf', ...asked },
    },
  ])
})

const stream = () => new Blob(['abc']).stream() as ReadableStream<Uint8Array>
test.each<[string, UploadSource, UploadOptions, object]>([
  [
    'bytes',
    Uint8Array.of(1, 2),
    { filename: 'a.png' },
    { filename: 'a.png', mediaType: 'image/png', maxContentLength: 2 },
  ],
  [
    'a buffer',
    new ArrayBuffer(4),
    {},
    { filename: 'file', mediaType: 'application/octet-stream', maxContentLength: 4 },
  ],
  [
    'a blob',
    new Blob(['abc'], { type: 'text/x' }),
    { filename: 'a.png' },
    { filename: 'a.png', mediaType: 'text/x', maxContentLength: 3 },
  ],
  [
    'a named type',
    new Blob(['abc'], { type: 'text/x' }),
    { mediaType: 'a/b' },
    { filename: 'file', mediaType: 'a/b', maxContentLength: 3 },
  ],
  ['nothing', new Uint8Array(), {}, { filename: 'file', mediaType: 'application/octet-stream', maxContentLength: 0 }],
  [
    'a stream',
    stream(),
    { size: 3, filename: 'a.csv' },
    { filename: 'a.csv', mediaType: 'text/csv', maxContentLength: 3 },
  ],
])('asks for %s', async (_, source, options, asked) => {
  const { client, sent } = clientOf(presigned(1), stored, finalized)
  await client.uploadWorkspaceFile(source, options)
  expect(sent[0]!.body).toEqual(asked)
})

test('sends the length of a stream, which object storage requires, and refuses one without', async () => {
  const { client, sent } = clientOf(presigned(1), stored, finalized)
  await client.uploadWorkspaceFile(stream(), { size: 3 })
  expect(sent[1]!.headers['content-length']).toBe('3')
  await expect(client.uploadWorkspaceFile(stream())).rejects.toThrow('A stream is uploaded with its `size` in bytes.')
})

test('a path is no file: it says how one is given', async () => {
  const { client, sent } = clientOf()
  await expect(client.uploadWorkspaceFile('note.md' as never)).rejects.toThrow(
    new TypeError(
      'A file is a Blob, a Uint8Array, an ArrayBuffer or a ReadableStream; in Node, openAsBlob(path) makes a Blob of a path.',
    ),
  )
  expect(sent).toEqual([])
})

const expired = new Response('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>', {
  status: 403,
})

test('asks once more for an address that has expired', async () => {
  const { client, sent } = clientOf(presigned(1), expired, presigned(2), stored, finalized)
  const { objectKey } = await client.uploadWorkspaceFile(new Blob(['abc']))
  expect(objectKey).toBe('ws/files/0193c7-2-invoice.pdf')
  expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
    'POST /v1/file-library/presign',
    'PUT /objects/staging-1',
    'POST /v1/file-library/presign',
    'PUT /objects/staging-2',
    'POST /v1/file-library/finalize',
  ])
})

test.each([
  ['an address that expires twice', [presigned(1), expired, presigned(2), expired], 403, 4],
  ['a refused upload', [presigned(1), new Response('<Error/>', { status: 403 })], 403, 2],
  ['a key that may not upload', [json({ error: 'No.', code: 'uploads_not_allowed' }, 403)], 403, 1],
  ['an upload that is too long', [presigned(1), new Response('', { status: 400 })], 400, 2],
])('throws for %s', async (_, answers, status, requests) => {
  const { client, sent } = clientOf(...answers)
  await expect(client.uploadWorkspaceFile(new Blob(['abc']))).rejects.toMatchObject({ status })
  expect(sent.length).toBe(requests)
})

test('hides the signature of the address from hooks and errors', async () => {
  const { fetch } = fakeFetch(presigned(1), new Response('', { status: 400 }))
  const told: string[] = []
  const client = new SvcClient({
    apiKey: 'k',
    baseUrl: 'http://svc.test',
    fetch,
    onRequest: ({ url }) => told.push(url),
  })
  await expect(client.uploadWorkspaceFile(new Blob(['abc']))).rejects.toMatchObject({ path: '/objects/staging-1' })
  expect(told[1]).toBe('http://uploads.test/objects/staging-1?X-Amz-Signature=***')
})

test('an upload becomes a reference in an input, or an item of a message', () => {
  const upload = { objectKey: 'ws/files/0193-a.pdf', filename: '0193-a.pdf', mediaType: 'application/pdf' }
  expect(fileRef(upload)).toEqual({ svcFile: true, filename: '0193-a.pdf', mediaType: 'application/pdf' })
  expect(fileItem(upload)).toEqual({
    svcFile: true,
    objectKey: 'ws/files/0193-a.pdf',
    filename: '0193-a.pdf',
    mediaType: 'application/pdf',
  })
})
