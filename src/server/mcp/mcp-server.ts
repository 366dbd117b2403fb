/** A server of the official SDK over a list of tools. Loaded with the first request: it is large. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  ProtocolError,
  McpServer,
  type CallToolResult,
} from '@modelcontextprotocol/server'
import { fail, isFailure } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { detailOf } from '../http/detail.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { McpTools } from './mcp-tools.ts'

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

/** @param requestId names the request in the log, where an error of ours is told whole */
export function createMcpServer(
  tools: McpTools,
  { serverState, redactor, log }: ServerServices,
  requestId: string,
): McpServer {
  // It would promise news of a list that never changes, and keep a stream open for them.
  const capabilities = { tools: { listChanged: false } }
  const served = new McpServer({ name: 'svc', version: serverState.version }, { capabilities })
  const { server } = served

  /** The SDK sends message, code and data of any error as they are, and ours may name paths and statements. */
  async function toProtocol<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isFailure(error))
        throw new ProtocolError(INVALID_PARAMS, redactor.text([error.message, error.extras.fix].join(' ').trim()))
      log.write('error', 'request failed', { requestId, path: '/mcp', detail: detailOf(error) })
      throw new ProtocolError(INTERNAL_ERROR, `${fail('internal').message} (request ${requestId})`)
    }
  }

  server.setRequestHandler('tools/list', () => toProtocol(async () => ({ tools: [...(await tools.list())] })))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    // Of the revision of 2026-07-28: earlier clients declare theirs in a handshake with a server that is gone.
    const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
    const { elicitation } = toObject(envelope[CLIENT_CAPABILITIES_META_KEY])
    const state = mcpReq.requestState()
    return toProtocol(async () => {
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
    })
  })
  return served
}

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
