/** A server of the official SDK over a list of tools. Loaded with the first request: it is large. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  ProtocolError,
  McpServer,
  type CallToolResult,
} from '@modelcontextprotocol/server'
import { isFailure } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { McpTools } from './mcp-tools.ts'

const INVALID_PARAMS = -32602

export function createMcpServer(tools: McpTools, { serverState, redactor }: ServerServices): McpServer {
  const served = new McpServer({ name: 'svc', version: serverState.version }, { capabilities: { tools: {} } })
  const { server } = served
  server.setRequestHandler('tools/list', async () => ({ tools: [...(await tools.list())] }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    // Of the revision of 2026-07-28: earlier clients declare theirs in a handshake with a server that is gone.
    const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
    const { elicitation } = toObject(envelope[CLIENT_CAPABILITIES_META_KEY])
    try {
      const state = mcpReq.requestState()
      const answer = await tools.call({
        name: params.name,
        arguments: toObject(params.arguments),
        meta: toObject(params['_meta']),
        signal: mcpReq.signal,
        opensAddresses: toObject(elicitation)['url'] !== undefined,
        ...(typeof state === 'string' && { state }),
      })
      if (!('url' in answer)) return answer as CallToolResult
      const { message, url, state: requestState } = answer as { message: string; url: string; state: string }
      return inputRequired({ inputRequests: { person: inputRequired.elicitUrl({ message, url }) }, requestState })
    } catch (error) {
      if (isFailure(error)) throw new ProtocolError(INVALID_PARAMS, redactor.text(error.message))
      throw error
    }
  })
  return served
}

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
