// A small MCP server over streamable HTTP: one tool that searches the folder of notes. Loopback only, no dependencies.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const NOTES = fileURLToPath(new URL('../notes/', import.meta.url))
const PORT = Number(process.env.NOTES_PORT || 4399)
const SEARCH = {
  name: 'search',
  description: 'Lines of the notes that have a word of the query.',
  inputSchema: { type: 'object', required: ['query'], properties: { query: { type: 'string' } } },
}

function search({ query }) {
  const words = query.toLowerCase().match(/[a-z]{5,}/g) ?? []
  return readdirSync(NOTES).flatMap((file) =>
    readFileSync(NOTES + file, 'utf8')
      .split('\n')
      .filter((line) => words.some((word) => line.toLowerCase().includes(word)))
      .map((line) => `notes/${file}: ${line}`),
  )
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [SEARCH] }),
  'tools/call': ({ arguments: args }) => {
    const found = search(args)
    return { content: [{ type: 'text', text: found.join('\n') }], structuredContent: { found } }
  },
}

createServer(async (request, response) => {
  // A page in a browser must not reach this server under a name of its own.
  const { host = '', origin } = request.headers
  if (origin !== undefined || !/^(127\.0\.0\.1|localhost):\d+$/.test(host)) return response.writeHead(403).end()
  if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end()
  let text = ''
  for await (const chunk of request) text += chunk
  const { id, method, params = {} } = JSON.parse(text)
  if (id === undefined) return response.writeHead(202).end()
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `There is no method ${method}.` } }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
}).listen(PORT, '127.0.0.1', () => console.error(`notes on http://127.0.0.1:${PORT}/mcp`))
