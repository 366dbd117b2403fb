/** Sentences of the HTTP document that belong to no one route. */
import { toNodeHandler } from 'h3/node'
import { expect } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { createApp } from '../../src/server/app.ts'
import { listenHttp } from '../../src/server/http/listen.ts'
import { openServer } from '../../src/server/open.ts'
import { openFixture } from '../server/fixtures.ts'
import { caller, closing, DESK, options, publishDesk, running, scripted, taskOf } from '../server/running.ts'
import { verifies } from './verifies.ts'

const FILE = { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 9 }
interface Presigned {
  readonly objectKey: string
  readonly uploadUrl: string
  readonly requiredHeaders: Record<string, string>
  readonly expiresInSeconds: number
}

verifies('keys.scope', async () => {
  const { operator, keyId } = await running()
  const { items } = (await operator('GET /keys')) as unknown as { items: Record<string, string>[] }
  const { items: triggers } = (await operator('GET /triggers')) as unknown as { items: Record<string, string>[] }
  expect(items.map((key) => [key['keyId'], key['agent'], key['triggerId']])).toEqual([
    [keyId, DESK, triggers[0]!['triggerId']],
  ])
})

verifies('triggers.api-only', async () => {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  await fixture.operator('POST /triggers', {
    body: { agent: DESK, type: 'schedule', name: 'nightly', cron: '0 3 * * *' },
  })
  await expect(fixture.operator('POST /keys', { body: { agent: DESK, trigger: 'nightly' } })).rejects.toThrow(
    'Trigger \\"nightly\\" is a schedule trigger; keys belong to API triggers.',
  )
})

verifies('triggers.allow-ips', async () => {
  const fixture = openFixture()
  const agentId = await fixture.deploy(DESK)
  const listener = await listenHttp(toNodeHandler(createApp(fixture.services)), {
    host: '127.0.0.1',
    port: 0,
    ids: fixture.services.ids,
  })
  closing(() => listener.close(0))
  const startWith = async (name: string, allowIps: string[]) => {
    const { secret } = await fixture.keyFor(DESK, { trigger: { name, allowIps } })
    const url = `http://127.0.0.1:${listener.port}/v1/agents/${agentId}/runs`
    return (await fetch(url, { method: 'POST', headers: { 'x-api-key': secret } })).status
  }
  expect(await startWith('anyone', [])).toBe(202)
  expect(await startWith('here', ['127.0.0.1'])).toBe(202)
  expect(await startWith('elsewhere', ['10.0.0.0/8', '2001:db8::/32'])).toBe(403)
})

verifies('requests.json', async () => {
  const fixture = openFixture()
  const agentId = await fixture.deploy(DESK)
  const { secret: key } = await fixture.keyFor(DESK)
  const startAs = async (type: string) => {
    const headers = { 'content-type': type }
    return (await fixture.api(`/v1/agents/${agentId}/runs`, { key, method: 'POST', body: '{}', headers })).status
  }
  expect(await startAs('application/json')).toBe(202)
  expect(await startAs('application/json; charset=utf-8')).toBe(202)
  expect(await startAs('text/plain')).toBe(415)
  expect(await startAs('application/x-www-form-urlencoded')).toBe(415)
})

verifies('conversation.operator', async () => {
  const { start, until, get, operator } = await running({
    snapshot: scripted([{ say: 'Hello.' }]),
    trigger: { exposeTimeline: false },
  })
  const { runId } = (await start({ order: 'A-1042' })).body as { runId: string }
  await until(runId, 'engine.session.completed')
  const typesOf = ({ items }: Conversation) => items.map(({ type }) => type)
  const redacted = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  const whole = (await operator(`GET /v1/runs/${runId}/conversation`)) as unknown as Conversation
  expect([typesOf(redacted), redacted.session.input]).toEqual([['RunCompleted', 'SessionCompleted'], null])
  expect(typesOf(whole)).toEqual(['UserMessage', 'Reasoning', 'Output', 'RunCompleted', 'SessionCompleted'])
  expect(whole.session.input).toEqual({ order: 'A-1042' })
})

verifies('messages.file-item', async () => {
  const { start, until, post } = await running()
  const { runId } = (await start({ order: 'A-1042', amount: 180 })).body as { runId: string }
  await until(runId, 'engine.session.paused')
  const send = async (...files: object[]) => {
    const { status, body } = await post<{ details?: unknown; code?: string }>(`/v1/runs/${runId}/messages`, {
      runId,
      files,
    })
    return [status, body.code, body.details]
  }
  const wrong = (path: string, message: string) => [400, 'validation_failed', [{ path: `/files/0${path}`, message }]]
  expect(await send({ svcFile: false, objectKey: 'k' })).toEqual(wrong('/svcFile', 'must be true'))
  expect(await send({ objectKey: 'k' })).toEqual(wrong('/svcFile', 'is required'))
  expect(await send({ svcFile: true })).toEqual(wrong('/objectKey', 'is required'))
  expect(await send({ svcFile: true, objectKey: 'k', size: 1 })).toEqual(wrong('/size', 'is not a known property'))
  expect((await send({ svcFile: true, objectKey: 'k', filename: 'a', mediaType: 'b' })).slice(0, 2)).toEqual([
    422,
    'file_not_found',
  ])
})

verifies('messages.email', async () => {
  const { start, until, post, get, keyId } = await running()
  const { runId } = (await start({ order: 'A-1042', amount: 180 })).body as { runId: string }
  await until(runId, 'engine.session.paused')
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  const body = { runId, userTaskId, completedByEmail: 'boss@acme.example' }
  expect((await post(`/v1/runs/${runId}/messages`, { ...body, completedByEmail: 'no address' })).status).toBe(400)
  expect((await post(`/v1/runs/${runId}/messages`, body)).status).toBe(202)
  const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  const { completed_by } = items.find(({ type }) => type === 'UserTaskRes')!.content as { completed_by: string }
  expect(completed_by).toContain(keyId)
  expect(completed_by).not.toContain('boss')
})

verifies('files.same-key', async () => {
  const { start, post } = await running({ key: { allowUploads: true }, snapshot: scripted([{ say: 'Read.' }]) })
  const { body } = await post<Presigned>('/v1/file-library/presign', FILE)
  await fetch(body.uploadUrl, { method: 'PUT', headers: body.requiredHeaders, body: 'text' })
  const finalized = await post<{ filename: string }>('/v1/file-library/finalize', {
    objectKey: body.objectKey,
    maxContentLength: 9,
  })
  expect(finalized.status).toBe(200)
  expect((await start({ document: { svcFile: true, filename: finalized.body.filename } })).status).toBe(202)
})

verifies('files.finalize-labels', async () => {
  const { post } = await running({ key: { allowUploads: true } })
  const { body } = await post<Presigned>('/v1/file-library/presign', FILE)
  await fetch(body.uploadUrl, { method: 'PUT', headers: body.requiredHeaders, body: 'text' })
  const finalize = async (given: object) => (await post('/v1/file-library/finalize', given)).status
  expect(await finalize({ maxContentLength: 9 })).toBe(400)
  expect(await finalize({ objectKey: body.objectKey })).toBe(400)
  expect(await finalize({ objectKey: body.objectKey, maxContentLength: 9 })).toBe(200)
  const labels = { filename: 'other.txt', mediaType: 'text/csv' }
  expect(await finalize({ objectKey: body.objectKey, maxContentLength: 9, ...labels })).toBe(200)
})

verifies('files.expires', async () => {
  let ahead = 0
  const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() }
  const server = await openServer({ ...options(), clock })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator, { allowUploads: true })
  const { post } = caller(server.url, secret)
  const { body } = await post<Presigned>('/v1/file-library/presign', FILE)
  const put = async () => {
    const { uploadUrl, requiredHeaders: headers } = body
    return (await fetch(uploadUrl, { method: 'PUT', headers, body: 'text' })).status
  }
  expect(body.expiresInSeconds).toBe(900)
  ahead = 895_000
  expect(await put()).toBe(200)
  ahead = 905_000
  expect(await put()).toBe(403)
})
