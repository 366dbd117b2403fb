import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from 'node:net'
import { join } from 'node:path'
import { copyProject, deploy, serve, type Access, type Project, type ServerProcess } from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'
import { waitUntil } from '../wait-until.ts'

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
  'after %s a run that waits is as it was, one whose model was thinking goes on, and what clients began is known',
  async (signal) => {
    const runId = await api.start(access.agentId, { case: 'child' })
    await api.settled(runId)
    const before = (await api.get(`/v1/runs/${runId}/conversation`)).body
    const thinking = await api.start(access.agentId, { case: 'moment' })
    const send = () =>
      api.post(`/v1/agents/${access.agentId}/runs`, { input: { case: 'hello' } }, { 'Idempotency-Key': signal })
    const first = await send()
    const asked = { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 }
    const presigned = (await api.post('/v1/file-library/presign', asked)).body as Json
    await fetch(presigned.uploadUrl, { method: 'PUT', headers: presigned.requiredHeaders, body: 'bytes' })

    expect(await again(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
    expect((await api.get(`/v1/runs/${runId}/conversation`)).body).toEqual(before)
    await api.send(runId, { userTaskId: (await api.task(runId)).user_task_id })
    expect(await api.settled(runId)).toMatchObject({ status: 'Completed' })
    expect(await api.settled(thinking)).toMatchObject({ status: 'Completed', output: 'A moment later.' })
    expect((await send()).body).toEqual({ ...first.body, duplicateDelivery: true })
    const { objectKey } = presigned
    const done = (await api.post('/v1/file-library/finalize', { objectKey, maxContentLength: 5 })).body
    expect(done).toMatchObject({ sizeBytes: 5, alreadyFinalized: false })
    // A file that is whole is read after another restart.
    await again('SIGKILL')
    const document = { svcFile: true, filename: done.filename, mediaType: 'text/plain' }
    const { output } = await api.settled(await api.start(access.agentId, { case: 'file', document }))
    expect(output).toContain('bytes')
  },
)

test('a reader that resumes by id sees every event once, across a restart', async () => {
  const runId = await api.start(access.agentId, { case: 'sign' })
  await api.settled(runId)
  const open = (after?: number) =>
    fetch(`${server.url}/v1/runs/${runId}/stream`, {
      headers: { 'X-API-Key': access.secret, ...(after !== undefined && { 'Last-Event-ID': String(after) }) },
    })
  const idsOf = (text: string): number[] => [...text.matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]))
  const { body } = await open()
  let text = ''
  const first = (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk
  })()
  await waitUntil(() => idsOf(text).length > 5)
  // A drain ends open streams in good order.
  await again('SIGTERM')
  await first
  const seen = idsOf(text)
  const rest = open(seen.at(-1)).then((response) => response.text())
  await api.send(runId, { userTaskId: (await api.task(runId)).user_task_id })
  const all = [...seen, ...idsOf(await rest)]
  expect(all).toEqual(all.map((_, at) => at + 1))
  expect(await rest).toContain('engine.session.completed')
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
  const code = await server.stop('SIGTERM')
  const tookMs = performance.now() - asked
  idle.destroy()
  await start()
  expect(code).toBe(0)
  // Less than the 5 s for which it waits for work.
  expect(tookMs).toBeLessThan(4500)
  expect(await reading).toContain('engine.run.paused')
})

test('a model that thinks on and on holds a drain for 5 s at most, while requests are refused with 503', async () => {
  const runId = await api.start(access.agentId, { case: 'slow' })
  // A request whose headers are not all sent yet keeps its connection while idle ones are closed.
  const begun = await begin(server.url)
  // Answered after what was sent before it: the server has seen the beginning.
  expect((await fetch(`${server.url}/v1/healthz`)).status).toBe(200)
  const asked = performance.now()
  const ended = server.stop('SIGTERM')
  await refused(server.url)
  const answer = await begun.finish()
  expect(answer).toMatch(/^HTTP\/1\.1 503 /)
  expect(answer).toMatch(/^retry-after: \d+\r$/im)
  expect(answer).toContain('"code":"shutting_down"')
  const code = await ended
  const tookMs = performance.now() - asked
  await start()
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(10_000)
  expect((await api.get(`/v1/runs/${runId}`)).body.status).toBe('Running')
  await api.post(`/v1/runs/${runId}/cancel`)
})

/** A request that has begun, and the whole answer once its last line is sent. */
async function begin(url: string): Promise<{ finish(): Promise<string> }> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  await new Promise((done) => socket.write(`GET /v1/runs/none HTTP/1.1\r\nHost: ${host}\r\n`, done))
  return {
    finish: () =>
      new Promise((done, failed) => {
        socket.on('error', failed).on('close', () => done(answer))
        socket.write('Connection: close\r\n\r\n')
      }),
  }
}

/** Resolves when the server takes no new connection. */
async function refused(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const isRefused = (): Promise<boolean> =>
    new Promise((done) => {
      const socket = connect(Number(port), hostname)
      socket.on('connect', () => done(false)).on('error', () => done(true))
      socket.on('connect', () => socket.destroy())
    })
  while (!(await isRefused()));
}
