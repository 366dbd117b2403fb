/** Requests to an MCP endpoint as they are on the wire, where a client of the SDK would not send them so. */
import type { JsonObject, JsonValue } from '../../../src/base/json/json.ts'
import type { ServerOptions } from '../../../src/server/open.ts'
import type { AgentSnapshot } from '../../../src/spec/snapshot.ts'
import { running, scripted, tool } from '../running.ts'

/** An agent that stands for its client, with a tool that reads, one that writes and one that cannot be undone. */
export const clientDesk: AgentSnapshot = scripted(
  [],
  [
    tool('acme.orders.lookup', { sideEffectClass: 'read_only' }),
    tool('acme.notes.write', { sideEffectClass: 'non_idempotent_write' }),
    tool('acme.refunds', { sideEffectClass: 'irreversible_action' }),
  ],
  { model: { provider: 'external', name: 'client' } },
)

export interface McpReply {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** The JSON-RPC message; undefined for a reply without one. */
  readonly message: { readonly result?: JsonObject; readonly error?: JsonObject } | undefined
}

export async function postMcp(
  url: string,
  secret: string,
  body: JsonValue,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpReply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const [, data = text] = /^data: (.*)$/m.exec(text) ?? []
  const message = data === '' ? undefined : (JSON.parse(data) as McpReply['message'])
  return { status: response.status, text, headers: response.headers, message }
}

type Given = Parameters<typeof running>[0]

export async function serveClientDesk(given: Given = {}) {
  const config: ServerOptions['config'] = {
    tools: {
      'acme.orders.lookup': { mock: [{ result: { status: 'delivered' } }] },
      'acme.notes.write': { mock: [{ result: { written: true } }] },
      'acme.refunds': { mock: [{ result: { refunded: 180 } }] },
    },
  }
  const served = await running({ snapshot: clientDesk, config, ...given })
  const post = (body: JsonValue, headers: Readonly<Record<string, string>> = {}): Promise<McpReply> =>
    postMcp(`${served.server.url}/mcp/${served.agentId}`, served.secret, body, headers)
  const call = (name: string, args: JsonObject = {}, meta?: JsonObject): Promise<McpReply> =>
    post(callOf(1, name, args, meta))
  return { ...served, post, call }
}

export const callOf = (id: JsonValue, name: string, args: JsonObject = {}, meta?: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...(meta && { _meta: meta }) },
})
