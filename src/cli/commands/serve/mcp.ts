/**
 * `svc mcp`: the agents of a server as MCP tools on standard input and output, for clients that start a program. The server's own MCP
 * endpoint answers; this process only passes lists and calls on. Source: docs/design/http.md#agents-as-mcp-tools
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { randomUUID } from 'node:crypto'
import { fail } from '../../../base/failure.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { OPERATOR_URL, openOperatorChannel } from '../../project/server/operator.ts'
import { openProject, type Project } from '../../project/project.ts'
import { baseUrl, givenKey } from '../../project/server/target.ts'
import { packageVersion } from '../../shell/version.ts'
import type { CommandContext } from '../../shell/command.ts'

/** Longer than the server waits for the end of a run. */
const CALL_TIMEOUT_MS = 120_000

export async function mcp(call: CommandContext): Promise<void> {
  const path = endpointPath(call)
  const endpoint = await openEndpoint(call, await openProject(call), path)
  const conversation = conversationMeta(call)
  // A conversation may outlast this process, whose client numbers its requests from the beginning again.
  const started = randomUUID()
  const about = { name: 'svc', version: packageVersion }
  const client = new Client(about, { versionNegotiation: { mode: 'auto' } })
  try {
    await client.connect(endpoint.transport)
    const stdio = serveStdio(() => {
      const served = new McpServer(about, { capabilities: { tools: {} } })
      const { server } = served
      server.setRequestHandler('tools/list', async ({ params }) => await client.listTools(params))
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) =>
        client.callTool(withMeta(params, conversation, `${started} ${mcpReq.id}`), {
          signal: mcpReq.signal,
          timeout: CALL_TIMEOUT_MS,
        }),
      )
      return served
    })
    // The client ends it by closing its end, or with a signal.
    await new Promise<void>((ended) => {
      process.stdin.once('end', ended).once('close', ended)
      call.signal.addEventListener('abort', () => ended())
    })
    await stdio.close()
  } finally {
    await client.close()
    await endpoint.close()
  }
}

/** The agents, or the tools of the one that stands for this client. */
function endpointPath({ given }: CommandContext): string {
  const agent = given.text('tools')
  return agent === undefined ? '/mcp' : `/mcp/${encodeURIComponent(agent)}`
}

/** This process serves one client, so its calls are one conversation where no name is given. */
function conversationMeta({ given }: CommandContext): Readonly<Record<string, unknown>> | undefined {
  if (given.text('tools') === undefined) return undefined
  const seconds = wholeNumber(given.text('hold'), 'hold')
  return {
    'svc/conversation': given.text('conversation') ?? randomUUID(),
    ...(seconds !== undefined && { 'svc/wait-seconds': seconds }),
  }
}

function withMeta<T extends { readonly _meta?: object | undefined }>(
  params: T,
  conversation: Readonly<Record<string, unknown>> | undefined,
  request: string,
): T {
  if (conversation === undefined) return params
  return { ...params, _meta: { ...conversation, 'svc/request': request, ...params['_meta'] } }
}

interface Endpoint {
  readonly transport: StreamableHTTPClientTransport
  close(): Promise<void>
}

/** With a key that of its agent at the address, else as an operator of the project's own server. */
async function openEndpoint(call: CommandContext, project: Project, path: string): Promise<Endpoint> {
  const key = await givenKey(call, project)
  if (key !== undefined) {
    const url = new URL(`${await baseUrl(call, project)}${path}`)
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    return {
      transport: new StreamableHTTPClientTransport(url, { requestInit, fetch: call.io.fetch }),
      close: async () => undefined,
    }
  }
  const operator = await openOperatorChannel(project, call.io)
  const { url } = await operator.call('GET /status', {})
  if (url === null) {
    await operator.close()
    throw fail('no_server', { url: project.dataDirectory })
  }
  return {
    transport: new StreamableHTTPClientTransport(new URL(`${OPERATOR_URL}${path}`), {
      fetch: (to, init) => operator.send(new Request(to, init as RequestInit)),
    }),
    close: () => operator.close(),
  }
}
