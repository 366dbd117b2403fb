/** An agent that tries to be its own approver at another server of the same store. Source: docs/design/security.md#what-leaves */
import { afterAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/server/open.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { findFreePort } from '../free-port.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { caller, closing, directory, running, scripted, tool } from './running.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

describe.skipIf(!postgres)('two servers of one store', () => {
  test('no tool of one reaches a listener of the other, at any loopback address', async () => {
    const store = postgres!.url('self')
    await migrateDatabase(store)
    const [port, consolePort] = [await findFreePort(), await findFreePort()]
    const urls = {
      'acme.answer': `http://localhost:${port}/v1/runs/x/messages`,
      'acme.respond': `http://127.0.0.2:${port}/v1/runs/x/input`,
      'acme.console': `http://[::ffff:127.0.0.1]:${consolePort}/status`,
    }
    const names = ['answer', 'respond', 'console']
    const snapshot = scripted(
      [{ call: names.map((name) => ({ tool: name, arguments: { approved: true } })) }, { say: 'Tried.' }],
      Object.keys(urls).map((id) => tool(id, { sideEffectClass: 'read_only' })),
    )
    const tools = Object.fromEntries(Object.entries(urls).map(([id, url]) => [id, { http: { url } }]))
    const { opened, agentId, secret } = await running({ store, snapshot, config: { tools } })
    const second = await openServer({ ...opened, dataDirectory: directory(), port, console: { port: consolePort } })
    closing(() => second.close())
    const third = await openServer({ ...opened, dataDirectory: directory() })
    closing(() => third.close())

    const { get, post, until } = caller(third.url, secret)
    const { runId } = (await post<{ runId: string }>(`/v1/agents/${agentId}/runs`, {})).body
    await until(runId, 'engine.session.completed')
    const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
    const said = items
      .filter(({ type }) => type === 'ToolResult')
      .map(({ content }) => (content as { result: { message: string } }).result.message)
    const why = 'is an address of this server; network.allowed_hosts in svc.config.yaml can allow it.'
    expect(said.toSorted()).toEqual(
      [
        `127.0.0.2:${port} cannot be reached: 127.0.0.2:${port} ${why}`,
        `[::ffff:7f00:1]:${consolePort} cannot be reached: [::ffff:7f00:1]:${consolePort} ${why}`,
        `localhost:${port} cannot be reached: localhost ${why}`,
      ].toSorted(),
    )
  })
})
