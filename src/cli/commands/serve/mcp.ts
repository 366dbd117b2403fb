/**
 * `svc mcp`: the agents of a server as MCP tools on standard input and output, for clients that start a program. The server's own MCP
 * endpoint answers; this process only passes lists and calls on. Source: docs/design/http.md#agents-as-mcp-tools
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { fail } from '../../../base/failure.ts'
import { OPERATOR_URL, openOperatorChannel } from '../../project/server/operator.ts'
import { openProject, type Project } from '../../project/project.ts'
import { baseUrl, givenKey } from '../../project/server/target.ts'
import { packageVersion } from '../../shell/version.ts'
import type { CommandContext } from '../../shell/command.ts'

/** Longer than the server waits for the end of a run. */
const CALL_TIMEOUT_MS = 120_000

export async function mcp(call: CommandContext): Promise<void> {
  const endpoint = await openEndpoint(call, await openProject(call))
  const about = { name: 'svc', version: packageVersion }
  const client = new Client(about, { versionNegotiation: { mode: 'auto' } })
  try {
    await client.connect(endpoint.transport)
    const stdio = serveStdio(() => {
      const served = new McpServer(about, { capabilities: { tools: {} } })
      const { server } = served
      server.setRequestHandler('tools/list', async ({ params }) => await client.listTools(params))
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) =>
        client.callTool(params, { signal: mcpReq.signal, timeout: CALL_TIMEOUT_MS }),
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

interface Endpoint {
  readonly transport: StreamableHTTPClientTransport
  close(): Promise<void>
}

/** With a key that of its agent at the address, else as an operator of the project's own server. */
async function openEndpoint(call: CommandContext, project: Project): Promise<Endpoint> {
  const key = await givenKey(call, project)
  if (key !== undefined) {
    const url = new URL(`${await baseUrl(call, project)}/mcp`)
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
    transport: new StreamableHTTPClientTransport(new URL(`${OPERATOR_URL}/mcp`), {
      fetch: (to, init) => operator.send(new Request(to, init as RequestInit)),
    }),
    close: () => operator.close(),
  }
}
