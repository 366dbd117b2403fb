import { expect, test } from 'vitest'
import type { Blobs } from '../../src/blobs/blobs.ts'
import { sweepUploads } from '../../src/server/runtime/upkeep/sweep.ts'
import { verifies } from '../api/verifies.ts'
import { openFixture } from './fixtures.ts'

const DESK = 'acme.refund-desk'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}'

/** Objects in memory. */
function memoryBlobs() {
  const objects = new Map<string, Uint8Array>()
  const blobs: Blobs = {
    presignPut: async (key, mediaType, maxBytes, seconds) => ({
      url: `http://uploads.test/${key}?max=${maxBytes}&for=${seconds}`,
      headers: { 'Content-Type': mediaType, 'x-amz-server-side-encryption': 'AES256' },
    }),
    head: async (key) => (objects.has(key) ? { sizeBytes: objects.get(key)!.length, mediaType: undefined } : undefined),
    async move(from, to) {
      if (!objects.has(from)) throw new Error(`${from} is gone`)
      objects.set(to, objects.get(from)!)
      objects.delete(from)
    },
    get: async (key) => objects.get(key),
    put: async (key, bytes) => void objects.set(key, bytes),
    delete: async (key) => void objects.delete(key),
    close: async () => {},
  }
  return { blobs, objects }
}

async function library(config: Parameters<typeof openFixture>[0] = {}, uploads = true) {
  const { blobs, objects } = memoryBlobs()
  const fixture = openFixture({ ...config, blobs })
  await fixture.deploy(DESK)
  const { secret: key } = await fixture.keyFor(DESK, { key: { allowUploads: uploads } })
  const call = async (route: 'presign' | 'finalize', json: unknown) => {
    const response = await fixture.api(`/v1/file-library/${route}`, { key, json })
    const body = (await response.json()) as Record<string, never>
    return { status: response.status, body }
  }
  const presign = async (filename = 'receipt.png', maxContentLength = 100) =>
    (await call('presign', { filename, mediaType: 'image/png', maxContentLength })).body as unknown as {
      objectKey: string
      uploadUrl: string
    }
  const upload = ({ uploadUrl }: { uploadUrl: string }, size: number) =>
    void objects.set(new URL(uploadUrl).pathname.slice(1), new Uint8Array(size))
  return { ...fixture, blobs, objects, call, presign, upload }
}

verifies('files.presign', async () => {
  const { call, services } = await library()
  const { status, body } = await call('presign', {
    filename: 'receipt.png',
    mediaType: 'image/png',
    maxContentLength: 100,
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    objectKey: expect.stringMatching(new RegExp(`^${services.workspace.id}/files/${UUID}-receipt\\.png$`)),
    uploadUrl: expect.stringMatching(/^http:\/\/uploads\.test\/.*\?max=100&for=900$/),
    httpMethod: 'PUT',
    requiredHeaders: { 'Content-Type': 'image/png', 'x-amz-server-side-encryption': 'AES256' },
    expiresInSeconds: 900,
  })
})

verifies('files.finalize', async () => {
  const { presign, upload, call, objects } = await library()
  const presigned = await presign()
  upload(presigned, 40)
  const { objectKey } = presigned
  const told = { objectKey, filename: objectKey.split('/').at(-1), mediaType: 'image/png', sizeBytes: 40 }
  expect(await call('finalize', { objectKey, maxContentLength: 100 })).toEqual({
    status: 200,
    body: { ...told, alreadyFinalized: false },
  })
  expect([...objects.keys()]).toEqual([objectKey])
  expect(await call('finalize', { objectKey, maxContentLength: 100, filename: 'x', mediaType: 'y' })).toEqual({
    status: 200,
    body: { ...told, alreadyFinalized: true },
  })
})

test('a finalized file can be sent with a message', async () => {
  const fixture = await library()
  const { secret: key, triggerId } = await fixture.keyFor(DESK, { trigger: { name: 'second' } })
  const { runId } = await fixture.storeRun(DESK, { triggerId, status: 'WaitingForResponse' })
  const presigned = await fixture.presign()
  fixture.upload(presigned, 40)
  const files = [{ svcFile: true, objectKey: presigned.objectKey, filename: 'receipt.png' }]
  expect((await fixture.api(`/v1/runs/${runId}/messages`, { key, json: { runId, files } })).status).toBe(422)
  await fixture.call('finalize', { objectKey: presigned.objectKey, maxContentLength: 100 })
  expect((await fixture.api(`/v1/runs/${runId}/messages`, { key, json: { runId, files } })).status).toBe(202)
  expect(fixture.asked.answers[0]!.answer.files).toEqual(files)
})

test('what is uploaded again after finalize changes nothing', async () => {
  const { presign, upload, call, objects } = await library()
  const presigned = await presign()
  upload(presigned, 40)
  await call('finalize', { objectKey: presigned.objectKey, maxContentLength: 100 })
  upload(presigned, 90)
  expect((await call('finalize', { objectKey: presigned.objectKey, maxContentLength: 100 })).body).toMatchObject({
    sizeBytes: 40,
    alreadyFinalized: true,
  })
  expect(objects.get(presigned.objectKey)!.length).toBe(40)
})

test('bytes that are replaced while they are finalized are measured where nobody can replace them', async () => {
  const { call, presign, upload, objects, blobs } = await library()
  const address = await presign()
  upload(address, 60)
  const move = blobs.move.bind(blobs)
  Object.assign(blobs, {
    move(from: string, to: string) {
      upload(address, 5000)
      return move(from, to)
    },
  })
  const { objectKey } = address
  expect(await call('finalize', { objectKey, maxContentLength: 100 })).toMatchObject({
    status: 422,
    body: { code: 'size_mismatch' },
  })
  expect(objects.size).toBe(0)
})

test('two finalizes at once register the file once', async () => {
  const { presign, upload, call } = await library()
  const presigned = await presign()
  upload(presigned, 40)
  const both = await Promise.all(
    [1, 2].map(() => call('finalize', { objectKey: presigned.objectKey, maxContentLength: 100 })),
  )
  expect(both.map(({ status, body }) => [status, body['alreadyFinalized']])).toEqual([
    [200, false],
    [200, true],
  ])
})

test('a crash between move and registration is mended by the next finalize', async () => {
  const { presign, upload, call, blobs, objects } = await library()
  const presigned = await presign()
  upload(presigned, 40)
  await blobs.move([...objects.keys()][0]!, presigned.objectKey)
  expect((await call('finalize', { objectKey: presigned.objectKey, maxContentLength: 100 })).body).toMatchObject({
    sizeBytes: 40,
    alreadyFinalized: false,
  })
})

test('tells what is missing or too large', async () => {
  const { presign, upload, call, objects } = await library()
  const presigned = await presign('receipt.png', 50)
  const { objectKey } = presigned
  const finalize = async (given: string, max = 50) => {
    const { status, body } = await call('finalize', { objectKey: given, maxContentLength: max })
    return [status, body['code']]
  }
  expect(await finalize('acme/files/none')).toEqual([404, 'not_found'])
  expect(await finalize(objectKey)).toEqual([409, 'not_uploaded'])
  upload(presigned, 51)
  expect(await finalize(objectKey)).toEqual([422, 'size_mismatch'])
  expect(objects.size).toBe(0)
  upload(presigned, 40)
  expect(await finalize(objectKey, 39)).toEqual([422, 'size_mismatch'])
  upload(presigned, 50)
  expect(await finalize(objectKey, 1000)).toEqual([200, undefined])
})

verifies('files.uploads-flag', async () => {
  const { call } = await library({}, false)
  for (const route of ['presign', 'finalize'] as const) {
    const { status, body } = await call(route, {})
    expect([status, body['code']]).toEqual([403, 'uploads_not_allowed'])
  }
})

verifies('files.presign-storage', async () => {
  const { call } = await library({ config: { plan: { storage_bytes: 150 } } })
  const presign = async (maxContentLength: number) => {
    const { status, body } = await call('presign', { filename: 'a', mediaType: 'text/plain', maxContentLength })
    return [status, body['code']]
  }
  expect(await presign(100)).toEqual([200, undefined])
  expect(await presign(51)).toEqual([403, 'storage_limit_exceeded'])
  expect(await presign(50)).toEqual([200, undefined])
})

test.each([
  [{ maxContentLength: 0 }, 200, undefined],
  [{ maxContentLength: -1 }, 400, 'validation_failed'],
  [{ maxContentLength: 1.5 }, 400, 'validation_failed'],
  [{ maxContentLength: 100 * 1024 * 1024 }, 200, undefined],
  [{ maxContentLength: 100 * 1024 * 1024 + 1 }, 413, 'file_too_large'],
  [{ filename: '' }, 400, 'validation_failed'],
  [{ mediaType: 'image' }, 400, 'validation_failed'],
  [{ mediaType: 'text/plain; charset=utf-8' }, 200, undefined],
  [{ mediaType: 'text/plain\r\nx-evil: 1' }, 400, 'validation_failed'],
  [{ size: 1 }, 400, 'validation_failed'],
])('presign of %j answers %i', async (given, status, code) => {
  const { call } = await library()
  const answer = await call('presign', { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 10, ...given })
  expect([answer.status, answer.body['code']]).toEqual([status, code])
})

test.each([
  ['receipt.png', 'receipt.png'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\temp\\Übersicht März.pdf', 'Ubersicht-Marz.pdf'],
  ['.env', 'env'],
  ['a"b\r\n<c>.txt', 'a-b-c-.txt'],
  ['请假.docx', 'file.docx'],
  ['отчёт.pdf', 'file.pdf'],
  ['👩‍👧.png', 'file.png'],
  ['a.tar.gz', 'a.tar.gz'],
  ['a.', 'a.'],
  ['请假', 'file'],
  ['x'.repeat(200), 'x'.repeat(100)],
])('names the object of %j after its leaf, %j', async (filename, leaf) => {
  const { presign } = await library()
  const { objectKey } = await presign(filename)
  expect(objectKey.replace(new RegExp(`^.*/files/${UUID}-`), '')).toBe(leaf)
})

test('uploads that never came are forgotten, and their bytes given back', async () => {
  const { presign, upload, call, services, blobs, objects, clock } = await library({
    config: { plan: { storage_bytes: 100 } },
  })
  const lost = await presign('a', 100)
  upload(lost, 10)
  clock.wind(900_000 + 3_600_001)
  await sweepUploads(services.store, blobs, clock)
  expect(objects.size).toBe(0)
  expect((await call('finalize', { objectKey: lost.objectKey, maxContentLength: 100 })).status).toBe(404)
  expect((await presign('b', 100)).objectKey).toBeDefined()
})

test('what is sent to an address after finalize is swept once the address has expired; the file stays', async () => {
  const { presign, upload, call, services, blobs, objects, clock } = await library()
  const address = await presign('a', 100)
  upload(address, 10)
  await call('finalize', { objectKey: address.objectKey, maxContentLength: 100 })
  upload(address, 90)
  await sweepUploads(services.store, blobs, clock)
  expect(objects.size).toBe(2)
  clock.wind(900_000 + 3_600_001)
  await sweepUploads(services.store, blobs, clock)
  expect([...objects]).toEqual([[address.objectKey, new Uint8Array(10)]])
  const again = await call('finalize', { objectKey: address.objectKey, maxContentLength: 100 })
  expect(again.body).toMatchObject({ sizeBytes: 10, alreadyFinalized: true })
})
