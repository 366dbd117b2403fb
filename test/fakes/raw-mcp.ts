import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen, stop } from './model-server.ts'

/** What is sent in answer to a request: a JSON-RPC result, or anything else. */
export type RawAnswer =
  | { readonly result: unknown }
  | {
      readonly status?: number
      readonly type?: string
      readonly headers?: Readonly<Record<string, string>>
      /** `<id>` stands for the id of the request. */
      readonly body: string
    }
  /** Writes the answer itself. */
  | ((response: ServerResponse, id: unknown) => void)

export interface RawMcp {
  readonly url: string
  /** Methods of the requests in order. */
  readonly requests: readonly {
    readonly method: string
    readonly params: unknown
    readonly headers: IncomingHttpHeaders
  }[]
  /** What each method is answered with; a method that is not in it is answered as a plain server of revision 2025-06-18 does. */
  answers: Readonly<Record<string, RawAnswer>>
  close(): Promise<void>
}

export const RAW_INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
}

/** An MCP server that answers with bytes as given, in any form or none. */
export async function startRawMcp(answers: RawMcp['answers'] = {}): Promise<RawMcp> {
  const requests: { method: string; params: unknown; headers: IncomingHttpHeaders }[] = []
  const usual: Readonly<Record<string, RawAnswer>> = {
    initialize: { result: RAW_INITIALIZED },
    'tools/list': { result: { tools: [{ name: 'find', inputSchema: { type: 'object' } }] } },
    'tools/call': { result: { content: [{ type: 'text', text: 'ok' }] } },
  }
  const server = createServer((request, response) => {
    void (async () => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method, params } = JSON.parse(text) as { id?: unknown; method: string; params?: unknown }
      requests.push({ method, params, headers: request.headers })
      const answer = raw.answers[method] ?? usual[method]
      if (answer === undefined && id === undefined) return response.writeHead(202).end()
      if (answer === undefined)
        return sendRaw(
          response,
          { body: '{"jsonrpc":"2.0","id":<id>,"error":{"code":-32601,"message":"Method not found"}}' },
          id,
        )
      return sendRaw(response, answer, id)
    })()
  })
  const raw: RawMcp = { url: `${await listen(server)}/mcp`, requests, answers, close: () => stop(server) }
  return raw
}

export function sendRaw(response: ServerResponse, answer: RawAnswer, id: unknown): void {
  if (typeof answer === 'function') return answer(response, id)
  if ('result' in answer) return sendRaw(response, { body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) }, id)
  const { status = 200, type = 'application/json', headers = {}, body } = answer
  response.writeHead(status, { ...headers, ...(type !== '' && { 'content-type': type }) })
  response.end(body.replaceAll('<id>', JSON.stringify(id)))
}
