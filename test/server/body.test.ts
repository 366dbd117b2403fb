import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { readJson } from '../../src/server/http/body.ts'

test('a body whose sender left before it was read is refused, not taken for an empty one', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  const body = '{"approved":false}'
  client.write(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const [incoming] = await once(server, 'request')
  client.destroy()
  await new Promise((closed) => incoming.on('error', () => {}).on('close', closed))
  const call = {
    request: new Request('http://x/', { headers: { 'content-type': 'application/json' } }),
    url: new URL('http://x/'),
    params: {},
    requestId: 'r1',
    peer: undefined,
    incoming,
  }
  await expect(readJson(call, { maxBytes: 1000, maxLevels: 8, maxValues: 100 })).rejects.toThrow('it ended early')
  server.close()
})
