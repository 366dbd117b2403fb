/**
 * `svc mcp`: the agents of a server as MCP tools on standard input and output, for clients that start a program. The server's own MCP
 * endpoint answers; this process only passes lists and calls on. Source: docs/design/http.md#agents-as-mcp-tools
 */
import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { randomUUID } from 'node:crypto'
import { fail } from '../../../base/failure.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { OPERATOR_URL, type SendRequest } from '../../../client/operator.ts'
import { openOperatorChannel } from '../../project/server/operator.ts'
import { createSendAgain } from '../../../client/send-again.ts'
import { openProject, type Project } from '../../project/project.ts'
import { apiAddress } from '../../project/server/target.ts'
import { packageVersion } from '../../shell/version.ts'
import type { CommandContext } from '../../shell/command.ts'

/** Longer than the server waits for the end of a run. */
const CALL_TIMEOUT_MS = 120_000

export async function mcp(call: CommandContext): Promise<void> {
  const path = endpointPath(call)
  const endpoint = await openEndpoint(call, await openProject(call), path)
  // A conversation may outlast this process, whose calls are numbered from the beginning again.
  const started = randomUUID()
  const conversation = conversationMeta(call, started)
  const about = { name: 'svc', version: packageVersion }
  const client = new Client(about, { versionNegotiation: { mode: 'auto' } })
  try {
    await client.connect(endpoint.transport)
    endpoint.keepTrying()
    const streams = new ClientStreams()
    let broken: Error | undefined
    // Not by the client's own ids: some give each request the same one.
    let calls = 0
    const toServer = () => {
      const served = new McpServer(about, { capabilities: { tools: {} } })
      const { server } = served
      server.setRequestHandler('tools/list', async ({ params }) => await client.listTools(params))
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) =>
        client
          .callTool(withMeta(params, conversation, `${started} ${++calls}`), {
            signal: mcpReq.signal,
            timeout: CALL_TIMEOUT_MS,
          })
          .catch((error: unknown) => {
            throw refusalOf(error) ?? error
          }),
      )
      return served
    }
    const stdio = serveStdio(toServer, { transport: streams, onerror: (error) => (broken = error) })
    // The client ends it by closing its end, or with a signal.
    await Promise.race([
      streams.closed,
      new Promise<void>((ended) => call.signal.addEventListener('abort', () => ended())),
    ])
    await stdio.close()
    if (!process.stdin.readableEnded && !call.signal.aborted)
      throw fail('invalid_value', { what: `The client cannot be heard any more: ${broken?.message ?? 'it is gone'}.` })
  } finally {
    await client.close()
    await endpoint.close()
  }
}

/** What the server says of a request that it refuses: the SDK would tell the model the whole answer as text. */
function refusalOf(error: unknown): ProtocolError | undefined {
  if (!(error instanceof SdkHttpError)) return undefined
  try {
    const problem: unknown = JSON.parse(String(error.data.text))
    const said = isJsonObject(problem) ? problem['error'] : undefined
    return typeof said === 'string' ? new ProtocolError(ProtocolErrorCode.InternalError, said) : undefined
  } catch {
    // It is no answer of svc.
    return undefined
  }
}

/** Standard input and output. They close when the client closes its end, when it is gone, and at a message of more than 10 MiB. */
class ClientStreams extends StdioServerTransport {
  #close: () => void = () => {}
  readonly closed = new Promise<void>((closed) => (this.#close = closed))

  override async close(): Promise<void> {
    await super.close()
    this.#close()
  }
}

/** The agents, or the tools of the one that stands for this client. */
function endpointPath({ given }: CommandContext): string {
  const agent = given.text('tools')
  return agent === undefined ? '/mcp' : `/mcp/${encodeURIComponent(agent)}`
}

/** This process serves one client, so its calls are one conversation where no name is given. */
function conversationMeta({ given }: CommandContext, started: string): Readonly<Record<string, unknown>> | undefined {
  if (given.text('tools') === undefined) return undefined
  const seconds = wholeNumber(given.text('hold'), 'hold')
  return {
    'svc/conversation': given.text('conversation') ?? started,
    ...(seconds !== undefined && { 'svc/wait-seconds': seconds }),
  }
}

interface CallParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly _meta?: object | undefined
}

/** Names the call, so that the server knows it again where it is sent again. */
function withMeta<T extends CallParams>(
  params: T,
  conversation: Readonly<Record<string, unknown>> | undefined,
  request: string,
): T {
  const named =
    conversation === undefined
      ? { 'svc/idempotency-key': request }
      : { ...conversation, 'svc/request': request, ...earlierConversation(params) }
  return { ...params, _meta: { ...named, ...params['_meta'] } }
}

/** A handle of an earlier process of this client begins with the conversation that it served. */
function earlierConversation({ name, arguments: given }: CallParams): Readonly<Record<string, unknown>> {
  const handle = name === 'svc_call_result' ? given?.['handle'] : undefined
  const [, earlier] =
    typeof handle === 'string' ? (/^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}) /.exec(handle) ?? []) : []
  return earlier === undefined ? {} : { 'svc/conversation': earlier }
}

interface Endpoint {
  readonly transport: StreamableHTTPClientTransport
  /** A server that goes away from now on is waited for. */
  readonly keepTrying: () => void
  close(): Promise<void>
}

/** With a key that of its agent at the address, else as an operator of the project's own server. */
async function openEndpoint(call: CommandContext, project: Project, path: string): Promise<Endpoint> {
  const key = await project.apiKey()
  if (key !== undefined) {
    const url = new URL(`${await apiAddress(project)}${path}`)
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const { send, begin } = createSendAgain((request) => call.io.fetch(request))
    return {
      transport: new StreamableHTTPClientTransport(url, { requestInit, fetch: toFetch(send) }),
      keepTrying: begin,
      close: async () => undefined,
    }
  }
  const operator = await openOperatorChannel(project, call.io)
  if (!operator.isServed) {
    await operator.close()
    throw fail('no_server', { url: project.dataDirectory })
  }
  const { send, begin } = createSendAgain(operator.send)
  return {
    transport: new StreamableHTTPClientTransport(new URL(`${OPERATOR_URL}${path}`), { fetch: toFetch(send) }),
    keepTrying: begin,
    close: () => operator.close(),
  }
}

const toFetch =
  (send: SendRequest) =>
  (to: string | URL, init?: object): Promise<Response> =>
    send(new Request(to, init as RequestInit))
