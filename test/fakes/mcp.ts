import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMcpHandler, Server as ModernServer } from '@modelcontextprotocol/server'
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { listen, stop } from './model-server.ts'

export interface FakeTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: object
  readonly outputSchema?: object
  readonly annotations?: object
  /** Content, structured content and `isError`, or an error to answer with. */
  answer(args: Record<string, unknown>, call: FakeCall): object | Promise<object>
}

/** How a tool asks a person: by what it returns, and gets back in the next call; or while its call is open. */
export interface FakeCall {
  readonly responses?: Record<string, unknown> | undefined
  readonly state?: unknown
  readonly ask?: (params: object) => Promise<object>
  readonly report?: (progress: object) => Promise<void>
}

/** `modern`: revision 2026-07-28. `stateless`, `sessions`: servers of the years before, with and without sessions. */
export type Era = 'modern' | 'stateless' | 'sessions'

export interface FakeMcp {
  /** Address of the endpoint. */
  readonly url: string
  /** Every request in order, with what it asked for. */
  readonly requests: readonly { readonly rpc: string; readonly headers: IncomingHttpHeaders; readonly meta: unknown }[]
  /** Takes requests before the server does; true = answered. */
  intercept: ((rpc: string, request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  tools: readonly FakeTool[]
  /** Forgets all sessions, as a restart would. */
  forget(): void
  close(): Promise<void>
}

export async function startFakeMcp(era: Era, tools: readonly FakeTool[]): Promise<FakeMcp> {
  const requests: { rpc: string; headers: IncomingHttpHeaders; meta: unknown }[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const listed = (): object[] =>
    fake.tools.map(({ name, description, inputSchema = { type: 'object' }, outputSchema, annotations }) => ({
      name,
      inputSchema,
      ...(description !== undefined && { description }),
      ...(outputSchema && { outputSchema }),
      ...(annotations && { annotations }),
    }))
  const called = async (name: string, args: Record<string, unknown> | undefined, call: FakeCall): Promise<object> => {
    const tool = fake.tools.find((each) => each.name === name)
    if (!tool) throw Object.assign(new Error(`Unknown tool ${name}`), { code: -32602 })
    return tool.answer(args ?? {}, call)
  }
  const modern = createMcpHandler(() => {
    const server = new ModernServer({ name: 'fake', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: listed() }) as never)
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const call = { responses: mcpReq.inputResponses, state: mcpReq.requestState() }
      return (await called(params.name, params.arguments, call)) as never
    })
    return server
  })
  const openOld = async (transport: StreamableHTTPServerTransport): Promise<void> => {
    const server = new OldServer({ name: 'fake', version: '1.0.0' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed() }))
    server.setRequestHandler(
      CallToolRequestSchema,
      async ({ params }, { sendRequest, sendNotification }) =>
        called(params.name, params.arguments, {
          report: (progress) =>
            sendNotification({
              method: 'notifications/progress',
              params: { progressToken: params['_meta']?.progressToken ?? 0, ...progress } as never,
            }),
          ask: (asked) =>
            sendRequest({ method: 'elicitation/create', params: asked as never }, ElicitResultSchema, {
              timeout: 60_000,
            }),
        }) as never,
    )
    // The old SDK's types were not written for exact optional properties.
    await server.connect(transport as unknown as Transport)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request)
    const body = text === '' ? undefined : (JSON.parse(text) as { method?: string; params?: Record<string, unknown> })
    const rpc = body?.method ?? request.method ?? ''
    requests.push({ rpc, headers: request.headers, meta: body?.params?.['_meta'] })
    if (fake.intercept?.(rpc, request, response)) return
    if (era === 'modern') return serveModern(request, response, text, modern.fetch)
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (known) return known.handleRequest(request, response, body)
    if (id !== undefined || (era === 'sessions' && rpc !== 'initialize')) {
      response.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message: 'No such session' }, id: null }))
      return
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport(
      era === 'sessions'
        ? { sessionIdGenerator: () => randomUUID(), onsessioninitialized: (made) => void sessions.set(made, transport) }
        : ({ sessionIdGenerator: undefined } as never),
    )
    await openOld(transport)
    await transport.handleRequest(request, response, body)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  const url = await listen(server)
  const fake: FakeMcp = {
    url: `${url}/mcp`,
    requests,
    intercept: undefined,
    tools,
    forget: () => sessions.clear(),
    close: () => stop(server),
  }
  return fake
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function serveModern(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
  const answer = await fetch(
    new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(text !== '' && { body: text }),
    }),
  )
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const chunk of answer.body ?? []) response.write(chunk)
  response.end()
}
