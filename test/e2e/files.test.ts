import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk({ config: 'plan: { storage_bytes: 300000000 }\n' })
})
afterAll(() => clerk.close())

const presign = (body: object) => clerk.api.post('/v1/file-library/presign', body)
const finalize = (body: object) => clerk.api.post('/v1/file-library/finalize', body)

/** PUT as the document says: every returned header, the bytes, nothing else. */
const put = ({ uploadUrl, httpMethod, requiredHeaders }: Json, bytes: string, headers: Record<string, string> = {}) =>
  fetch(uploadUrl, {
    method: httpMethod,
    headers: { ...requiredHeaders, ...headers },
    body: new TextEncoder().encode(bytes),
  })

const upload = async (filename: string, text: string, mediaType = 'text/plain'): Promise<Json> => {
  const presigned = (await presign({ filename, mediaType, maxContentLength: text.length })).body
  expect((await put(presigned, text)).status).toBe(200)
  const { status, body } = await finalize({ objectKey: presigned.objectKey, maxContentLength: text.length })
  expect(status).toBe(200)
  return body
}

test('presign gives an address on the storage, finalize registers what was put there', async () => {
  const { status, body } = await presign({ filename: 'invoice.txt', mediaType: 'text/plain', maxContentLength: 1000 })
  expect(status).toBe(200)
  expect(body).toEqual({
    objectKey: expect.stringMatching(/^[0-9a-f-]{36}\/files\/[0-9a-f-]{36}-invoice\.txt$/),
    uploadUrl: expect.any(String),
    httpMethod: 'PUT',
    requiredHeaders: { 'Content-Type': 'text/plain', 'x-amz-server-side-encryption': 'AES256' },
    expiresInSeconds: 900,
  })
  expect(new URL(body.uploadUrl).origin).toBe(clerk.server.uploadUrl)
  expect(clerk.server.uploadUrl).not.toBe(clerk.server.url)
  expect((await put(body, 'twelve bytes')).status).toBe(200)
  const done = await finalize({
    objectKey: body.objectKey,
    maxContentLength: 1000,
    filename: 'x',
    mediaType: 'text/plain',
  })
  expect([done.status, done.body]).toEqual([
    200,
    {
      objectKey: body.objectKey,
      filename: body.objectKey.split('/').at(-1),
      mediaType: 'text/plain',
      sizeBytes: 12,
      alreadyFinalized: false,
    },
  ])
  const again = await finalize({ objectKey: body.objectKey, maxContentLength: 1000 })
  expect([again.status, again.body]).toEqual([200, { ...done.body, alreadyFinalized: true }])
})

test('a file in the input is read by the run, named by its leaf', async () => {
  const { filename, mediaType } = await upload('note.txt', 'Remember the milk.')
  const runId = await clerk.api.start(clerk.agentId, { case: 'file', document: { svcFile: true, filename, mediaType } })
  const { status, output } = await clerk.api.settled(runId)
  expect(status).toBe('Completed')
  expect(output).toContain('Remember the milk.')
})

test('a file that the run was not given cannot be read by its model', async () => {
  const { filename } = await upload('secret.txt', 'Nobody gave me this.')
  const runId = await clerk.api.start(clerk.agentId, { case: 'file', document: { filename } })
  const { status, output } = await clerk.api.settled(runId)
  expect([status, output]).toEqual(['Completed', expect.not.stringContaining('Nobody gave me this.')])
})

test('a path in place of the leaf name is no file', async () => {
  const { objectKey } = await upload('note.txt', 'x')
  const { status, body } = await clerk.api.post(`/v1/agents/${clerk.agentId}/runs`, {
    input: { case: 'file', document: { svcFile: true, filename: objectKey } },
  })
  expect([status, body.code]).toEqual([422, 'file_not_found'])
})

test('a file comes with a reply, or is the reply', async () => {
  const { objectKey } = await upload('photo.txt', 'a red barn')
  for (const body of [{ text: 'Look.' }, {}]) {
    const runId = await clerk.begin('chat')
    const answer = await clerk.api.send(runId, {
      ...body,
      files: [{ svcFile: true, objectKey, filename: 'photo', mediaType: 'text/plain' }],
    })
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    const { status, output } = await clerk.api.settled(runId)
    expect([status, output]).toEqual(['Completed', expect.stringMatching(/^You said /)])
    const said = (await clerk.api.items(runId)).filter(({ type }) => type === 'UserMessage').at(-1)
    expect(JSON.stringify(said.content)).toContain(objectKey.split('/').at(-1))
  }
})

test('a file of a reply is read by the model that asked for it', async () => {
  const { objectKey } = await upload('letter.txt', 'Dear clerk,')
  const runId = await clerk.begin('letter')
  await clerk.api.send(runId, { message: 'Here.', files: [{ svcFile: true, objectKey }] })
  expect((await clerk.api.settled(runId)).output).toContain('Dear clerk,')
})

test('a file of a reply that was never finalized is 422', async () => {
  const { objectKey } = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 })).body
  const runId = await clerk.begin('chat')
  const { status, body } = await clerk.api.send(runId, { files: [{ svcFile: true, objectKey }] })
  expect([status, body.code]).toEqual([422, 'file_not_found'])
  expect((await clerk.api.get(`/v1/runs/${runId}`)).body.status).toBe('WaitingForResponse')
})

describe('an upload', () => {
  test('needs every header as it was returned', async () => {
    const presigned = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 })).body
    expect((await put(presigned, 'hello', { 'Content-Type': 'text/html' })).status).toBe(403)
    const { ['x-amz-server-side-encryption']: _, ...fewer } = presigned.requiredHeaders
    expect((await put({ ...presigned, requiredHeaders: fewer }, 'hello')).status).toBe(403)
    expect(
      (
        await put(
          { ...presigned, uploadUrl: presigned.uploadUrl.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')) },
          'hello',
        )
      ).status,
    ).toBe(403)
    expect((await finalize({ objectKey: presigned.objectKey, maxContentLength: 5 })).body.code).toBe('not_uploaded')
  })

  test('of unknown length is taken', async () => {
    const { uploadUrl, requiredHeaders, objectKey } = (
      await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 50 })
    ).body
    const body = new ReadableStream({
      start(controller) {
        for (const piece of ['one ', 'two ', 'three']) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      },
    })
    const response = await fetch(uploadUrl, {
      method: 'PUT',
      headers: requiredHeaders,
      body,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(200)
    expect((await finalize({ objectKey, maxContentLength: 50 })).body.sizeBytes).toBe(13)
  })

  test('longer than was said is refused and leaves nothing', async () => {
    const presigned = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 })).body
    const response = await put(presigned, 'too long').catch(() => undefined)
    expect(response?.ok ?? false).toBe(false)
    const { status, body } = await finalize({ objectKey: presigned.objectKey, maxContentLength: 5 })
    expect([status, body.code]).toEqual([409, 'not_uploaded'])
  })

  test('longer than finalize is told is 422 and gone', async () => {
    const presigned = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 50 })).body
    await put(presigned, 'ten bytes!')
    const short = await finalize({ objectKey: presigned.objectKey, maxContentLength: 9 })
    expect([short.status, short.body.code]).toEqual([422, 'size_mismatch'])
    expect((await finalize({ objectKey: presigned.objectKey, maxContentLength: 50 })).body.code).toBe('not_uploaded')
  })

  test('that is repeated after finalize changes nothing', async () => {
    const presigned = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 50 })).body
    await put(presigned, 'first')
    const { filename } = (await finalize({ objectKey: presigned.objectKey, maxContentLength: 50 })).body
    await put(presigned, 'second')
    expect((await finalize({ objectKey: presigned.objectKey, maxContentLength: 50 })).body).toMatchObject({
      sizeBytes: 5,
      alreadyFinalized: true,
    })
    const runId = await clerk.api.start(clerk.agentId, {
      case: 'file',
      document: { svcFile: true, filename, mediaType: 'text/plain' },
    })
    expect((await clerk.api.settled(runId)).output).toContain('first')
  })

  test('of no bytes is a file of no bytes', async () => {
    const presigned = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 1 })).body
    await put(presigned, '')
    expect((await finalize({ objectKey: presigned.objectKey, maxContentLength: 1 })).body.sizeBytes).toBe(0)
  })

  test('address reads nothing', async () => {
    const { uploadUrl } = (await presign({ filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 50 })).body
    expect((await fetch(uploadUrl)).status).toBe(403)
  })
})

test.each([
  ['../../etc/passwd', 'passwd'],
  ['C:\\temp\\über größe.pdf', 'uber-gro-e.pdf'],
  ['.env', 'env'],
  ['a\nb"c.txt', 'a-b-c.txt'],
])('the name %j becomes the leaf %s', async (filename, leaf) => {
  const { body } = await presign({ filename, mediaType: 'text/plain', maxContentLength: 5 })
  expect(body.objectKey.split('/').at(-1).slice(37)).toBe(leaf)
})

describe('what is refused', () => {
  const good = { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 }
  test.each<[string, object, number, string, string?]>([
    ['no name', { ...good, filename: undefined }, 400, 'validation_failed', '/filename'],
    ['an empty name', { ...good, filename: '' }, 400, 'validation_failed', '/filename'],
    ['no type', { ...good, mediaType: undefined }, 400, 'validation_failed', '/mediaType'],
    ['no length', { ...good, maxContentLength: undefined }, 400, 'validation_failed', '/maxContentLength'],
    ['length -1', { ...good, maxContentLength: -1 }, 400, 'validation_failed', '/maxContentLength'],
    ['half a byte', { ...good, maxContentLength: 1.5 }, 400, 'validation_failed', '/maxContentLength'],
    ['length as text', { ...good, maxContentLength: '5' }, 400, 'validation_failed', '/maxContentLength'],
    ['an unknown property', { ...good, path: 'x' }, 400, 'validation_failed', '/path'],
    ['more than 100 MiB', { ...good, maxContentLength: 100 * 1024 * 1024 + 1 }, 413, 'file_too_large'],
  ])('presign with %s', async (_, body, status, code, path) => {
    const answer = await presign(body)
    expect([answer.status, answer.body.code, answer.body.details?.[0]?.path]).toEqual([status, code, path])
  })

  test('presign beyond the storage of the plan', async () => {
    const codes: (string | undefined)[] = []
    for (let at = 0; at < 3; at++)
      codes.push((await presign({ ...good, maxContentLength: 100 * 1024 * 1024 })).body.code)
    expect(codes).toEqual([undefined, undefined, 'storage_limit_exceeded'])
    expect((await presign({ ...good, maxContentLength: 100 * 1024 * 1024 })).status).toBe(403)
  })

  test.each<[string, object, number, string]>([
    [
      'a key that was never presigned',
      { objectKey: 'nobody/files/nothing.txt', maxContentLength: 5 },
      404,
      'not_found',
    ],
    ['no key', { maxContentLength: 5 }, 400, 'validation_failed'],
    ['no length', { objectKey: 'a' }, 400, 'validation_failed'],
    ['an unknown property', { objectKey: 'a', maxContentLength: 5, size: 5 }, 400, 'validation_failed'],
  ])('finalize with %s', async (_, body, status, code) => {
    const answer = await finalize(body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('every file route with a key that may not upload', async () => {
    const key = await clerk.key()
    for (const route of ['presign', 'finalize']) {
      const { status, body } = await key.post(`/v1/file-library/${route}`, good)
      expect([status, body.code]).toEqual([403, 'uploads_not_allowed'])
    }
  })
})
