import { afterAll, beforeAll, expect, test } from 'vitest'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { copyProject, deploy, serve, type Access, type Project, type ServerProcess } from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'

let project: Project
let access: Access
let server: ServerProcess
let api: Caller
const start = async (): Promise<void> => {
  const env = { CLERK_LEDGER: join(project.directory, 'ledger') }
  server = await serve(['--data', project.data], { cwd: project.directory, env })
  api = caller(server.url, access.secret)
}
beforeAll(async () => {
  project = copyProject('clerk')
  access = await deploy(project, 'acme.clerk', { uploads: true })
  await start()
})
afterAll(async () => {
  await server.stop('SIGTERM')
  project.remove()
})

const again = async (signal: NodeJS.Signals): Promise<number | null> => {
  const code = await server.stop(signal)
  await start()
  return code
}

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'after %s a run that waits is as it was, and is answered',
  async (signal) => {
    const runId = await api.start(access.agentId, { case: 'child' })
    await api.settled(runId)
    const before = (await api.get(`/v1/runs/${runId}/conversation`)).body
    expect(await again(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
    expect((await api.get(`/v1/runs/${runId}/conversation`)).body).toEqual(before)
    await api.send(runId, { userTaskId: (await api.task(runId)).user_task_id })
    expect(await api.settled(runId)).toMatchObject({ status: 'Completed' })
  },
)

test.each(['SIGTERM', 'SIGKILL'] as const)('after %s a run whose model was thinking goes on', async (signal) => {
  const runId = await api.start(access.agentId, { case: 'moment' })
  await again(signal)
  expect(await api.settled(runId)).toMatchObject({ status: 'Completed', output: 'A moment later.' })
})

test('a reader that resumes by id sees every event once, across a restart', async () => {
  const runId = await api.start(access.agentId, { case: 'sign' })
  await api.settled(runId)
  const open = (after?: number) =>
    fetch(`${server.url}/v1/runs/${runId}/stream`, {
      headers: { 'X-API-Key': access.secret, ...(after !== undefined && { 'Last-Event-ID': String(after) }) },
    })
  const idsOf = (text: string): number[] => [...text.matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]))
  const first = (await open()).text().catch(() => '')
  // A drain ends open streams in good order.
  await again('SIGTERM')
  const seen = idsOf(await first)
  expect(seen.length).toBeGreaterThan(5)
  const rest = open(seen.at(-1)).then((response) => response.text())
  await api.send(runId, { userTaskId: (await api.task(runId)).user_task_id })
  const all = [...seen, ...idsOf(await rest)]
  expect(all).toEqual(all.map((_, at) => at + 1))
  expect(await rest).toContain('engine.session.completed')
})

test('an Idempotency-Key is known after a restart', async () => {
  const send = () =>
    api.post(`/v1/agents/${access.agentId}/runs`, { input: { case: 'hello' } }, { 'Idempotency-Key': 'once' })
  const first = await send()
  await again('SIGKILL')
  expect((await send()).body).toEqual({ ...first.body, duplicateDelivery: true })
})

test('an upload that was begun before a restart is finished after it', async () => {
  const asked = { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 }
  const presigned = (await api.post('/v1/file-library/presign', asked)).body as Json
  await fetch(presigned.uploadUrl, { method: 'PUT', headers: presigned.requiredHeaders, body: 'bytes' })
  await again('SIGKILL')
  const { objectKey } = presigned
  const done = (await api.post('/v1/file-library/finalize', { objectKey, maxContentLength: 5 })).body
  expect(done).toMatchObject({ sizeBytes: 5, alreadyFinalized: false })
  const document = { svcFile: true, filename: done.filename, mediaType: 'text/plain' }
  await again('SIGKILL')
  const { output } = await api.settled(await api.start(access.agentId, { case: 'file', document }))
  expect(output).toContain('bytes')
})

test('SIGTERM is obeyed at once although readers are connected', async () => {
  const runId = await api.start(access.agentId, { case: 'sign' })
  await api.settled(runId)
  const stream = fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': access.secret } })
  const reading = (await stream).text()
  const idle = connect(Number(new URL(server.url).port), '127.0.0.1')
  await new Promise((done) => idle.once('connect', done))
  idle.on('error', () => {})
  const asked = performance.now()
  expect(await server.stop('SIGTERM')).toBe(0)
  expect(performance.now() - asked).toBeLessThan(3000)
  expect(await reading).toContain('engine.run.paused')
  idle.destroy()
  await start()
})

test('a model that thinks on and on holds a drain for 5 s at most, while requests are refused with 503', async () => {
  const runId = await api.start(access.agentId, { case: 'slow' })
  const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 })
  const health = () => healthOf(server.url, keepAlive)
  expect(await health()).toEqual([200, undefined])
  const asked = performance.now()
  const ended = server.stop('SIGTERM')
  let answer
  do answer = await health()
  while (answer[0] === 200)
  expect(answer).toEqual([503, expect.stringMatching(/^\d+$/)])
  expect(await ended).toBe(0)
  expect(performance.now() - asked).toBeLessThan(8000)
  keepAlive.destroy()
  await start()
  expect((await api.get(`/v1/runs/${runId}`)).body.status).toBe('Running')
  await api.post(`/v1/runs/${runId}/cancel`)
})

/** On a connection that stays open. @returns the status, and when to come back */
const healthOf = (url: string, agent: Agent): Promise<[number, string | undefined]> =>
  new Promise((done, failed) => {
    const sent = request(`${url}/v1/healthz`, { agent }, (response) => {
      response.resume().on('end', () => done([response.statusCode!, response.headers['retry-after']]))
    })
    sent.on('error', failed).end()
  })
