/** What passing events on costs before they mean anything: `POST /send?count=N` writes N frames to every open reader. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const readers = new Set<ServerResponse>()
/** As long as a piece of model text is on our stream. */
const PADDING = 'x'.repeat(120)
const frame = (): string =>
  `data: ${JSON.stringify({ ts: new Date().toISOString(), kind: 'step', subject: 'engine.step.delta', data: { text: PADDING } })}\n\n`

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    const count = Number(new URL(request.url!, 'http://localhost').searchParams.get('count'))
    for (let sent = 0; sent < count; sent++) {
      const text = frame()
      for (const reader of readers) reader.write(text)
    }
    response.writeHead(202).end()
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': live\n\n')
  readers.add(response)
  response.on('close', () => readers.delete(response))
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))
