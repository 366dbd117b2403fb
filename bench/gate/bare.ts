/** An MCP server as short as its SDK allows, in a process of its own: the tools of the measurement. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const inputSchema = { type: 'object' as const, properties: { n: { type: 'integer' } }, required: ['n'] }
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'bare', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: ['find', 'write'].map((name) => ({ name, description: 'Takes a number.', inputSchema })),
  }))
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: `done ${String(params.arguments?.['n'])}` }],
  }))
  return server
})

const http = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
    const method = request.method ?? 'GET'
    const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {}
    const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, { method, headers, ...body }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })()
})
http.listen(0, '127.0.0.1', () =>
  process.send!({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }),
)
