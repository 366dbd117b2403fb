/** An agent that tries to be its own approver. Source: docs/design/security.md#what-leaves */
import { expect, test } from 'vitest'
import { openServer } from '../../src/server/open.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { caller, closing, options, publishDesk, scripted, tool } from './running.ts'
import { findFreePort } from '../free-port.ts'

test('no tool reaches the interface or the storage of the server that runs it', async () => {
  const [port, uploadPort] = [await findFreePort(), await findFreePort()]
  const urls = {
    'acme.answer': `http://localhost:${port}/v1/runs/x/messages`,
    'acme.respond': `http://127.1:${port}/v1/runs/x/input`,
    'acme.store': `http://[::ffff:127.0.0.1]:${uploadPort}/svc/x`,
  }
  const names = ['answer', 'respond', 'store']
  const snapshot = scripted(
    [{ call: names.map((name) => ({ tool: name, arguments: { approved: true } })) }, { say: 'Tried.' }],
    Object.keys(urls).map((id) => tool(id, { sideEffectClass: 'read_only' })),
  )
  const tools = Object.fromEntries(Object.entries(urls).map(([id, url]) => [id, { http: { url } }]))
  const server = await openServer({ ...options(), config: { tools }, port, uploadPort })
  closing(() => server.close())
  const { agentId, secret } = await publishDesk(server.operator, {}, snapshot)
  const { get, post, until } = caller(server.url, secret)
  const { runId } = (await post<{ runId: string }>(`/v1/agents/${agentId}/runs`, {})).body
  await until(runId, 'engine.session.completed')
  const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  const said = items
    .filter(({ type }) => type === 'ToolResult')
    .map(({ content }) => (content as { result: { message: string } }).result.message)
  const why = 'is an address of this server; network.allowed_hosts in svc.config.yaml can allow it.'
  expect(said.toSorted()).toEqual([
    `127.0.0.1:${port} cannot be reached: 127.0.0.1:${port} ${why}`,
    `[::ffff:7f00:1]:${uploadPort} cannot be reached: [::ffff:7f00:1]:${uploadPort} ${why}`,
    `localhost:${port} cannot be reached: localhost ${why}`,
  ])
})
