/** `traceparent` of a start goes on to tools; a malformed one is as none. Source: docs/design/models-and-tools.md#traces */
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { listen, stop } from '../fakes/model-server.ts'
import { closing, running, scripted, tool } from './running.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

test.each([
  ['a valid one', `00-${TRACE}-00f067aa0ba902b7-00`, [TRACE, '00', 'rojo=1']],
  ['a malformed one', `00-${TRACE}-00f067aa0ba902b7-0`, [undefined, '01', undefined]],
])('POST /v1/agents/{id}/runs with %s', async (_, traceparent, expected) => {
  const got: unknown[] = []
  const target = createServer(({ headers }, response) => {
    const [, traceId, , flags] = String(headers['traceparent']).split('-')
    got.push([traceId === TRACE ? traceId : undefined, flags, headers['tracestate']])
    response.end('1')
  })
  const url = await listen(target)
  closing(() => stop(target))
  const { server, agentId, secret } = await running({
    snapshot: scripted(
      [{ call: { tool: 'look', arguments: {} } }, { say: 'Done.' }],
      [tool('acme.look', { sideEffectClass: 'read_only' })],
    ),
    config: { tools: { 'acme.look': { http: { url } } } },
  })
  const response = await fetch(`${server.url}/v1/agents/${agentId}/runs`, {
    method: 'POST',
    headers: {
      'x-api-key': secret,
      'content-type': 'application/json',
      prefer: 'wait=20',
      traceparent,
      tracestate: 'rojo=1',
    },
    body: JSON.stringify({ input: {} }),
  })
  const body = (await response.json()) as { status: string }
  expect([response.status, body.status, got]).toEqual([202, 'Completed', [expected]])
  expect(JSON.stringify(body)).not.toContain(TRACE)
})
