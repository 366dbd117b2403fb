import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openDevProxy } from '../../src/cli/dev/https.ts'

test('the HTTPS front hands requests on as they came, and answers as they are given', async () => {
  const api = createServer((asked, answer) => {
    let body = ''
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()))
    asked.on('end', () =>
      answer
        .writeHead(202, { 'x-kept': 'yes' })
        .end(`${asked.method} ${asked.url} ${String(asked.headers['x-api-key'])} ${body}`),
    )
  })
  await new Promise<void>((ready) => api.listen(0, '127.0.0.1', ready))
  const front = await openDevProxy(`http://127.0.0.1:${(api.address() as AddressInfo).port}`, '127.0.0.1', true)
  expect(front.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const answer = await new Promise<{ status: number | undefined; kept: unknown; text: string }>((done, failed) => {
    const sent = request(
      `${front.url}/v1/x?y=1`,
      { method: 'POST', rejectUnauthorized: false, headers: { 'x-api-key': 'k' } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => done({ status: response.statusCode, kept: response.headers['x-kept'], text }))
      },
    )
    sent.on('error', failed)
    sent.end('{}')
  })
  await front.close()
  api.close()
  expect(answer).toEqual({ status: 202, kept: 'yes', text: 'POST /v1/x?y=1 k {}' })
})
