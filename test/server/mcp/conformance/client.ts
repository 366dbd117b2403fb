/** The client of svc as the protocol's own tests start it, with the address of their server: consents where it has to, and calls what is offered. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FetchFunction } from '../../../../src/base/net/transport.ts'
import { createEgress } from '../../../../src/base/net/egress.ts'
import { createRedactor } from '../../../../src/base/secret.ts'
import type { JsonValue } from '../../../../src/base/json/json.ts'
import type { ServerAnswer, ServerQuestion } from '../../../../src/spec/server-question.ts'
import type { McpAuth, McpServer } from '../../../../src/spec/document.ts'
import { openLoginStore } from '../../../../src/tools/oauth/login-command.ts'
import { listMcpTools } from '../../../../src/tools/mcp/mcp-listing.ts'
import { requestConsent } from '../../../../src/tools/oauth/consent.ts'
import { nameOfLogin, takesLogin } from '../../../../src/tools/oauth/login.ts'
import { agentWith, invocationOf, toolboxWith, toolNamed } from '../../../tools/invocation.ts'

const url = process.argv.at(-1)!
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, string>
const dataDirectory = mkdtempSync(join(tmpdir(), 'svc-conformance-'))
const env = { CLIENT_SECRET: given['client_secret'] }
const fetch = withRefreshToken(createEgress({ from: 'document', allowedHosts: [] }))
const logins = openLoginStore({ config: {}, configDir: dataDirectory, dataDirectory, env })

/** What the tools of the tests want to be called with. */
const ARGUMENTS: Readonly<Record<string, JsonValue>> = { add_numbers: { a: 5, b: 3 } }

const server: McpServer = { name: 'test', url, ...(scenario.startsWith('auth/') && { auth: await authOf() }) }
const agent = agentWith({ mcpServers: [server], secrets: { client: { fromEnv: 'CLIENT_SECRET' } } })

if (takesLogin(server)) {
  const redirectUri = 'http://127.0.0.1:8976/callback'
  const parts = { server, clientSecret: env.CLIENT_SECRET, redirectUri, fetch, now: () => new Date() }
  const request = await requestConsent(parts)
  const page = await globalThis.fetch(request.address, { redirect: 'manual' })
  const answer = new URL(page.headers.get('location')!).searchParams
  if (!request.isAnsweredBy(answer)) throw new Error('The browser was sent back by somebody else.')
  await logins.keeper.write(nameOfLogin(server), await request.finish(answer))
}
const redactor = createRedactor()
const listing = await listMcpTools(agent, server, { env, redactor, fetch, version: '1', timeoutMs: 5000, logins })
if ('problem' in listing) throw new Error(listing.problem)
const toolbox = toolboxWith({}, { env, redactor, fetch, dataDirectory })
for (const name of listing.tools.keys()) {
  const tool = toolNamed(`test.${name}`, { mcp: { server: 'test', tool: name } })
  const invocation = invocationOf(tool, ARGUMENTS[name] ?? {}, { onQuestion: acceptDefaults })
  const outcome = await toolbox.route(agent, tool)!.invoke(invocation, AbortSignal.timeout(20_000))
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
  if (outcome.at !== 'returned') process.exitCode = 1
}
await toolbox.close()

/** As a person who changes nothing of a form. */
function acceptDefaults({ schema }: ServerQuestion): Promise<ServerAnswer> {
  const fields = Object.entries((schema?.['properties'] ?? {}) as Record<string, { readonly default?: JsonValue }>)
  const content = Object.fromEntries(
    fields.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  )
  return Promise.resolve({ action: 'accept', content })
}

/** As the author of a document writes it. */
async function authOf(): Promise<McpAuth> {
  const { client_id: clientId = '', client_secret: secret } = given
  if (scenario.startsWith('auth/client-credentials'))
    return { scheme: 'client_credentials', secret: 'client', client_id: clientId, issuer: await readIssuer() }
  return {
    scheme: 'authorization_code',
    ...(clientId !== '' && { client_id: clientId }),
    ...(secret !== undefined && { secret: 'client' }),
  }
}

async function readIssuer(): Promise<string> {
  const { origin, pathname } = new URL(url)
  const metadata = await globalThis.fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`)
  return ((await metadata.json()) as { authorization_servers: [string] }).authorization_servers[0]
}

/** The authorization server of the tests gives no refresh tokens, which a login needs: this one stands for its access token. */
function withRefreshToken(send: FetchFunction): FetchFunction {
  let token: object = {}
  return async (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    if (body.includes('grant_type=refresh_token')) return Response.json(token)
    const response = await send(input, init)
    if (!body.includes('grant_type=authorization_code') || !response.ok) return response
    token = { ...((await response.json()) as object), refresh_token: 'refresh-of-test' }
    return Response.json(token)
  }
}
