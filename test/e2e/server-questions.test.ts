/** The built program dies around the question of an MCP server: the question, its answer and the call outlive it. */
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { deploy, serve, svc, writeProject, type Project } from './binary.ts'
import { caller, type Json } from './caller.ts'

interface SeenCall {
  readonly key: unknown
  readonly responses: unknown
  readonly state: unknown
}

let fake: FakeMcp
let project: Project
let access: Awaited<ReturnType<typeof deploy>>
let seen: SeenCall[] = []

beforeAll(async () => {
  fake = await startFakeMcp('modern', [
    {
      name: 'book',
      inputSchema: { type: 'object', properties: { room: { type: 'string' } } },
      answer(_, { responses, state }) {
        const { meta } = fake.requests.at(-1)!
        seen.push({ key: (meta as Json)['svc/idempotencyKey'], responses: responses ?? null, state: state ?? null })
        if (responses) return { content: [{ type: 'text', text: `booked: ${JSON.stringify(responses)}` }] }
        const requestedSchema = {
          type: 'object',
          properties: { seats: { type: 'integer', minimum: 1 } },
          required: ['seats'],
        }
        return {
          resultType: 'input_required',
          inputRequests: {
            seats: { method: 'elicitation/create', params: { mode: 'form', message: 'Seats?', requestedSchema } },
          },
          requestState: 'opaque',
        }
      },
    },
  ])
  project = writeProject({
    'svc.config.yaml': 'workspace: asks\n',
    'agent.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: acme, version: 1.0.0 }
spec:
  purpose: Books rooms.
  instructions: { text: You book rooms. }
  model: { provider: scripted, name: desk, provider_options: { script: script.yaml } }
  mcp_servers:
    - { name: rooms, url: "${fake.url}" }
  tools:
    - { ref: acme.book, side_effect_class: idempotent_write, mcp: { server: rooms } }
  limits: { max_loop_iterations: 5 }
`,
    'script.yaml': `
- call: { tool: book, arguments: { room: A } }
- say: 'Done: \${results.book}'
`,
  })
  access = await deploy(project, 'acme.desk')
})
afterAll(async () => {
  await fake.close()
  project.remove()
})

test('a server that dies before, between and after the answer asks once, and makes the call with it', async () => {
  seen = []
  const start = (failpoint?: string) =>
    serve(['--data', project.data], { cwd: project.directory, ...(failpoint !== undefined && { failpoint }) })
  const first = await start()
  const api = caller(first.url, access.secret)
  const runId = await api.start(access.agentId, {})
  expect((await api.settled(runId)).status).toBe('WaitingForHITL')
  const asked = await api.task(runId)
  expect(asked).toMatchObject({ kind: 'number', prompt: 'Seats?', question: { server: 'rooms', tool: 'acme.book' } })
  await first.stop('SIGKILL')

  // Dies once the next attempt is recorded, and before it leaves.
  const second = await start('effect.afterDispatchRecord')
  await caller(second.url, access.secret)
    .send(runId, { userTaskId: asked.user_task_id, numberValue: 3 })
    .catch(() => undefined)
  await second.died

  const third = await start()
  const again = caller(third.url, access.secret)
  for (let run = await again.settled(runId); run.status !== 'Completed'; run = await again.settled(runId))
    await after(20)
  const { output } = await again.settled(runId)
  expect(output).toBe('Done: booked: {"seats":{"action":"accept","content":{"seats":3}}}')
  const { key } = seen[0]!
  expect(seen).toEqual([
    { key, responses: null, state: null },
    { key, responses: { seats: { action: 'accept', content: { seats: 3 } } }, state: 'opaque' },
  ])
  expect((await again.items(runId)).filter(({ type }: Json) => type === 'UserTaskReq')).toHaveLength(1)
  expect(await third.stop('SIGTERM')).toBe(0)
}, 120_000)

test('a person answers, declines and closes questions in the terminal', async () => {
  const server = await serve(['--data', project.data], { cwd: project.directory })
  const api = caller(server.url, access.secret)
  const at = { cwd: project.directory }
  const told: string[] = []
  for (const args of [['4'], ['--decline'], ['--cancel']]) {
    seen = []
    const runId = await api.start(access.agentId, {})
    await api.settled(runId)
    const { user_task_id: id } = await api.task(runId)
    const { stdout, stderr, code } = await svc(['answer', id, ...args, '--data', project.data], at)
    expect([code, stderr]).toEqual([0, expect.any(String)])
    for (let run = await api.settled(runId); run.status !== 'Completed'; run = await api.settled(runId)) await after(20)
    told.push(`${stdout.split(';')[0]} -> ${JSON.stringify(seen.at(-1)?.responses)}`)
  }
  expect(told).toEqual([
    'answered 4 -> {"seats":{"action":"accept","content":{"seats":4}}}',
    'declined -> {"seats":{"action":"decline"}}',
    'declined -> {"seats":{"action":"cancel"}}',
  ])
  expect(await server.stop('SIGTERM')).toBe(0)
}, 120_000)
