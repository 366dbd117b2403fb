/**
 * The MCP endpoint: streamable HTTP without sessions, through the official SDK, which speaks the revision of 2026-07-28 and those of 2025.
 * Each request is answered by a server of its own, so that any process answers any request. Source: docs/design/http.md#agents-as-mcp-tools
 */
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { AuthenticatedCaller, IdentifyCaller } from '../auth/auth.ts'
import { identifyBearer } from '../auth/bearer.ts'
import { agentInScope } from '../auth/scope.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { detailOf } from '../http/detail.ts'
import type { HttpReply } from '../http/reply.ts'
import { type ApiRoute, type HttpRequestContext, readPathParam } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'
import { createAgentTools } from './agent-tools.ts'
import { createClientTools } from './client-tools.ts'
import { createOpenCalls } from './open-calls.ts'
import type { McpTools } from './mcp-tools.ts'

/** GET and DELETE are of sessions, which there are none of: 405, as the protocol asks. */
export function mcpRoutes(services: ServerServices, identify: IdentifyCaller): readonly ApiRoute[] {
  const openCalls = createOpenCalls()
  const createToolsOf: CreateMcpTools = async (_, call, caller) => {
    if (caller.isTriggerHeld) throw fail('trigger_held')
    const agentId = await agentInScope(services, caller.principal, readPathParam(call, 'agentId'))
    return createClientTools(services, caller, agentId, openCalls)
  }
  return [
    { method: 'POST', path: '/mcp', handle: (call) => serve(services, identify, call, createAgentTools) },
    { method: 'POST', path: '/mcp/:agentId', handle: (call) => serve(services, identify, call, createToolsOf) },
  ]
}

export type CreateMcpTools = (
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
) => McpTools | Promise<McpTools>

async function serve(
  services: ServerServices,
  identify: IdentifyCaller,
  call: HttpRequestContext,
  createTools: CreateMcpTools,
): Promise<HttpReply> {
  const caller = await identifyBearer(services, identify, call)
  const body = await readJson(call, apiBodyLimits(services.config))
  checkDistinct(body)
  const tools = await createTools(services, call, caller)
  const [{ createMcpHandler }, { createMcpServer }] = await (loading ??= loadSdk())
  const { headers, accepts } = readAccepted(call.request.headers)
  const handler = createMcpHandler(() => createMcpServer(tools, services, call.requestId), {
    onerror: (error) => services.log.write('debug', 'mcp: a request was refused', { detail: detailOf(error) }),
    ...(accepts === 'streams' && { responseMode: 'sse' }),
  })
  const { url, signal } = call.request
  // Its body is read already.
  const request = new Request(url, { method: 'POST', headers, signal })
  const response = await handler.fetch(request, { parsedBody: toStrictForm((body ?? null) as JsonValue) })
  if (isEventStream(response)) {
    if (accepts === 'json') return replyInJson(response, Array.isArray(body))
    return { ...partsOf(response), ...(response.body && { stream: response.body }) }
  }
  return { ...partsOf(response), text: await response.text() }
}

const partsOf = ({ status, headers }: Response) => ({ status, headers: Object.fromEntries(headers) })

/** Imports the SDK with the first request, and only then: to resolve it again takes a good part of a millisecond. */
const loadSdk = () => Promise.all([import('@modelcontextprotocol/server'), import('./mcp-server.ts')])
let loading: ReturnType<typeof loadSdk> | undefined

interface AcceptedForm {
  readonly headers: Headers
  readonly accepts: 'both' | 'json' | 'streams'
}

/** The SDK asks for both of its types by name; many clients read one of them, or name none. */
function readAccepted(given: Headers): AcceptedForm {
  const headers = new Headers(given)
  const accept = (headers.get('accept') ?? '').toLowerCase()
  const takes = (...types: readonly string[]): boolean =>
    accept.trim() === '' || ['*/*', ...types].some((each) => accept.includes(each))
  const isJson = takes('application/json', 'application/*')
  const isStream = takes('text/event-stream', 'text/*')
  if (isJson || isStream) headers.set('accept', 'application/json, text/event-stream')
  if (isJson === isStream) return { headers, accepts: 'both' }
  return { headers, accepts: isJson ? 'json' : 'streams' }
}

const isEventStream = ({ headers }: Response): boolean => headers.get('content-type')?.includes('event-stream') === true

/** Earlier revisions are always answered with a stream. */
async function replyInJson(response: Response, isBatch: boolean): Promise<HttpReply> {
  const { createParser } = await import('eventsource-parser')
  const answers: string[] = []
  const parser = createParser({
    onEvent({ data }) {
      const message = JSON.parse(data) as JsonValue
      if (isJsonObject(message) && !('method' in message)) answers.push(data)
    },
  })
  parser.feed(`${await response.text()}\n\n`)
  const headers = { 'content-type': 'application/json' }
  return { status: response.status, headers, text: isBatch ? `[${answers.join()}]` : (answers[0] ?? '') }
}

/** Some clients write `null` for no arguments. */
function toStrictForm(body: JsonValue): JsonValue {
  if (Array.isArray(body)) return body.map(toStrictForm)
  const params = isJsonObject(body) ? body['params'] : undefined
  if (!isJsonObject(body) || !isJsonObject(params) || params['arguments'] !== null) return body
  const { arguments: _, ...rest } = params
  return { ...body, params: rest }
}

/**
 * An answer names its request by the id, so of two calls with one id in a batch both would be made and one would be answered.
 * @throws Failure `validation_failed`
 */
function checkDistinct(body: unknown): void {
  if (!Array.isArray(body)) return
  const seen = new Set<unknown>()
  for (const [at, each] of body.entries()) {
    const id = isJsonObject(each) ? each['id'] : undefined
    if (id !== undefined && seen.has(id))
      throw fail(
        'validation_failed',
        { what: 'Two requests of the batch have one id.' },
        { details: [{ path: `/${at}/id`, message: 'is the id of an earlier request of the batch' }] },
      )
    seen.add(id)
  }
}
