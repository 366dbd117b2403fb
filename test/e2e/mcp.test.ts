import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { deploy, serveHere, writeProject, type Access, type Project, type RunningServer } from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'

const TOKEN = 'a-token-of-the-operator'

let fake: FakeMcp
let project: Project
let access: Access
let server: RunningServer
let api: Caller
const sent: Json[] = []

const tool = (name: string, kind: string): string => `
apiVersion: svc/v1
kind: Tool
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
spec: { side_effect_class: ${kind} }
`

beforeAll(async () => {
  fake = await startFakeMcp('modern', [
    {
      name: 'find',
      description: 'Finds an order.',
      inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      answer: ({ order }) => ({ content: [{ type: 'text', text: `${order as string} is on its way` }] }),
    },
    {
      name: 'orders.cancel',
      inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      answer: (args) => {
        sent.push(args)
        return { content: [], structuredContent: { cancelled: args['order'] } }
      },
    },
    { name: 'grumpy', answer: () => ({ content: [{ type: 'text', text: 'not today' }], isError: true }) },
  ])
  project = writeProject({
    'svc.config.yaml': 'workspace: mcp\n',
    'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: orders, namespace: acme, version: 1.0.0 }
spec: { root: agent.yaml }
`,
    'tools/find.yaml': tool('find', 'read_only'),
    'tools/cancel.yaml': tool('cancel', 'irreversible_action'),
    'tools/grumpy.yaml': tool('grumpy', 'read_only'),
    'tools/gone.yaml': tool('gone', 'read_only'),
    'agent.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: orders, namespace: acme, version: 1.0.0 }
secrets: { orders-token: { fromEnv: ORDERS_TOKEN } }
spec:
  purpose: Looks after orders.
  instructions: { text: You look after orders. }
  model: { provider: scripted, name: orders, provider_options: { script: script.yaml } }
  mcp_servers:
    - name: orders
      url: ${fake.url}
      auth: { scheme: bearer, secret: orders-token }
  tools:
    - { ref: 'acme.find@^1', mcp: { server: orders } }
    - { ref: 'acme.cancel@^1', mcp: { server: orders, tool: orders.cancel } }
    - { ref: 'acme.grumpy@^1', mcp: { server: orders } }
    - { ref: 'acme.gone@^1', mcp: { server: orders } }
  limits: { max_loop_iterations: 5 }
`,
    'script.yaml': `
- when: { input: { message: find } }
  call: { tool: find, arguments: { order: A-1 } }
- when: { tool: find }
  say: 'Found: \${results.find}'
- when: { input: { message: cancel } }
  call: { tool: cancel, arguments: { order: A-2 } }
- when: { tool: cancel }
  say: 'Done: \${results.cancel.cancelled}'
- when: { input: { message: trouble } }
  call:
    - { tool: grumpy, arguments: {} }
    - { tool: gone, arguments: {} }
- when: { input: { message: trouble } }
  say: Trouble.
`,
  })
  access = await deploy(project, 'acme.orders')
  server = await serveHere(['--data', project.data], { cwd: project.directory, env: { ORDERS_TOKEN: TOKEN } })
  api = caller(server.url, access.secret)
})
afterAll(async () => {
  await server.stop('SIGTERM')
  await fake.close()
  project.remove()
})

const begin = async (message: string): Promise<string> => {
  const runId = await api.start(access.agentId, { message })
  await api.settled(runId)
  return runId
}

test('a tool of an MCP server is called with the secret of the document and answers the model', async () => {
  const runId = await begin('find')
  expect(await api.settled(runId)).toMatchObject({ status: 'Completed', output: 'Found: A-1 is on its way' })
  const call = (await api.items(runId)).find(({ type }) => type === 'ToolCall').content
  expect(call).toMatchObject({ name: 'find', ref: 'acme.find', route: 'mcp', arguments: { order: 'A-1' } })
  const request = fake.requests.findLast(({ rpc }) => rpc === 'tools/call')!
  expect(request.headers['authorization']).toBe(`Bearer ${TOKEN}`)
  expect(request.meta).toMatchObject({ 'svc/idempotencyKey': call.idempotency_key })
  expect(JSON.stringify(await api.items(runId))).not.toContain(TOKEN)
})

test('an irreversible one waits for its approval, and is then sent once under its remote name', async () => {
  const runId = await begin('cancel')
  expect((await api.get(`/v1/runs/${runId}`)).body.status).toBe('WaitingForHITL')
  expect(sent).toEqual([])
  const { user_task_id: userTaskId, arguments: args } = await api.task(runId)
  expect(args).toEqual({ order: 'A-2' })
  await api.send(runId, { userTaskId, approved: true })
  expect(await api.settled(runId)).toMatchObject({ status: 'Completed', output: 'Done: A-2' })
  expect(sent).toEqual([{ order: 'A-2' }])
})

test('its errors, and a tool that it does not have, are told to the model', async () => {
  const runId = await begin('trouble')
  expect(await api.settled(runId)).toMatchObject({ status: 'Completed', output: 'Trouble.' })
  const results = (await api.items(runId)).filter(({ type }) => type === 'ToolResult').map(({ content }) => content)
  const of = (name: string) => results.find((result) => result.name === name)
  expect(of('grumpy')).toMatchObject({ is_error: true, result: expect.stringContaining('not today') })
  expect(of('gone').is_error).toBe(true)
  expect(JSON.stringify(of('gone').result)).toContain('gone')
})
