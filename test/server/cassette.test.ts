/** A whole run recorded on one server and played on another, whose model and tools are not asked. */
import { expect, test } from 'vitest'
import { openServer, type ServerOptions } from '../../src/server/open.ts'
import { createReplay, printExchange, readExchanges } from '../../src/spec/project/cassette.ts'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import { caller, closing, options, publishDesk, taskOf } from './running.ts'

const input = { order: 'A-1042', amount: 180 }

/** Starts the desk, approves its refund, and answers with how the run ended. */
async function refund(given: Partial<ServerOptions>) {
  const server = await openServer({ ...options(), ...given })
  closing(() => server.close())
  const made = await publishDesk(server.operator)
  const { get, post, until } = caller(server.url, made.secret)
  const { body } = await post<{ runId: string }>(`/v1/agents/${made.agentId}/runs`, { input })
  const { runId } = body
  const paused = await until(runId, 'engine.session.paused')
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  await until(runId, 'engine.session.completed', paused)
  return get<RunStatusBody>(`/v1/runs/${runId}`)
}

test('a run is played from its recording, ids and approvals of its own included', async () => {
  const lines: string[] = []
  const recorded = await refund({ cassette: { record: (exchange) => void lines.push(printExchange(exchange)) } })
  expect(recorded).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
  expect(readExchanges(lines.join('')).map(({ kind }) => kind)).toEqual(['model', 'tool', 'model', 'tool', 'model'])

  const config = { tools: { 'acme.*': { mock: [{ result: { never: 'asked' } }] } } }
  const replay = createReplay(readExchanges(lines.join('')))
  const played = await refund({ config, cassette: { replay } })
  expect(played).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
  expect(played.runId).not.toBe(recorded.runId)
})
