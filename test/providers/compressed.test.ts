/** Answers that a gateway compressed although nobody accepts it. */
import { afterEach, expect, test } from 'vitest'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { startFakeModel, type FakeModel } from '../fakes/model-server.ts'
import { openAt } from './open-at.ts'
import { complete, requestWith } from './request.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

const CODINGS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const

const ANSWER = `data: ${JSON.stringify({ choices: [{ delta: { content: 'hello' }, finish_reason: 'stop' }] })}\n\n`

async function ask(status: number, coding: string, bytes: Buffer) {
  fake = await startFakeModel([{}], (_, response) =>
    response.writeHead(status, { 'content-type': 'text/event-stream', 'content-encoding': coding }).end(bytes),
  )
  return complete(openAt('openai-compatible', fake.url), requestWith())
}

test.each(CODINGS)('%s: an answer and a refusal are read', async (coding, compress) => {
  expect((await ask(200, coding, compress(ANSWER))).completion.text).toBe('hello')
  await fake?.close()
  await expect(ask(400, coding, compress('{"error":"No such model"}'))).rejects.toThrow(
    'The model provider answered 400: No such model',
  )
})

test.each(CODINGS)('%s: what is not compressed, or cut off, has broken', async (coding, compress) => {
  await expect(ask(200, coding, Buffer.from(ANSWER))).rejects.toMatchObject({ retryable: true })
  await fake?.close()
  await expect(ask(200, coding, compress(ANSWER).subarray(0, 30))).rejects.toMatchObject({ retryable: true })
})

test('a small body that becomes a large one ends at the bound of any other', async () => {
  await expect(ask(200, 'gzip', gzipSync(Buffer.alloc(20 * 1024 * 1024, 'x')))).rejects.toThrow(
    'The model provider sent a line or a text of more than 16 MiB. Check base_url.',
  )
})
