import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk()
})
afterAll(() => clerk.close())

/** Runs a program of a third party that uses the client library as it is packaged. @returns what it told */
async function program(text: string): Promise<Json> {
  const { access, server } = clerk
  const source = `
    import { SvcClient, SvcError } from '@svc-agents/cli/client'
    const client = new SvcClient({ apiKey: '${access.secret}', baseUrl: '${server.url}' })
    const agentId = '${access.agentId}'
    const settled = async (runId) => {
      for (;;) {
        const run = await client.getRun(runId)
        if (run.status !== 'Running') return run
      }
    }
    const tell = (value) => process.stdout.write(JSON.stringify(value))
    ${text}`
  const cwd = resolve(import.meta.dirname, '../..')
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], { cwd })
  return JSON.parse(stdout)
}

test('every method of the mapping table speaks to its route', async () => {
  const told = await program(`
    const started = await client.startRun(agentId, { input: { case: 'sign' } })
    const { runId } = started
    const paused = await settled(runId)
    const { items, runs, session } = await client.getConversation(runId, { stepContent: 'slim' })
    const { content } = items.find(({ type }) => type === 'UserTaskReq')
    const events = []
    const reading = (async () => {
      for await (const event of client.streamRunEvents(runId)) events.push(event)
    })()
    const answered = await client.sendRunMessage(runId, { userTaskId: content.user_task_id, approved: true }, { path: 'input' })
    await reading
    const ended = await client.getRun(runId)
    const listed = await client.listSessions(agentId, { take: 1 })
    tell({
      started: started.status,
      paused: paused.status,
      session: session.id === started.sessionId,
      slim: 'session_id' in content,
      answered,
      task: content.user_task_id,
      events: events.map(({ ts, kind, subject, data }) => [typeof ts, kind, subject, typeof data]).at(-1),
      ended: [ended.status, ended.output],
      listed: listed.items.map(({ rootRunId }) => rootRunId === runId),
    })`)
  expect(told).toEqual({
    started: 'Running',
    paused: 'WaitingForHITL',
    session: true,
    slim: false,
    answered: { status: expect.stringMatching(/^(Running|Completed)$/), userTaskId: told.task, pending: [] },
    task: expect.any(String),
    events: ['string', 'session', 'engine.session.completed', 'object'],
    ended: ['Completed', 'Signed {"done":true,"form":"A-2"}'],
    listed: [true],
  })
})

test('a file is uploaded in one call and read by a run', async () => {
  const told = await program(`
    const bytes = new TextEncoder().encode('Mind the gap.')
    const file = await client.uploadWorkspaceFile(bytes, { filename: 'note.txt', mediaType: 'text/plain' })
    const document = { svcFile: true, filename: file.filename, mediaType: file.mediaType }
    const { runId } = await client.startRun(agentId, { input: { case: 'file', document } })
    tell((await settled(runId)).output)`)
  expect(told).toContain('Mind the gap.')
})

test('what is no file is not uploaded as an empty one', async () => {
  const told = await program(`
    tell(await client.uploadWorkspaceFile({ path: 'note.txt' }).catch((error) => error.name))`)
  expect(told).toBe('TypeError')
})

test('a failing status throws an error with status, path and body', async () => {
  const runId = '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03'
  const told = await program(`
    const error = await client.getRun('${runId}').catch((error) => error)
    tell({ own: error instanceof SvcError, status: error.status, path: error.path, body: error.body })`)
  expect(told).toMatchObject({ own: true, status: 404, path: `/v1/runs/${runId}` })
  expect(JSON.stringify(told.body)).toContain('not_found')
})
