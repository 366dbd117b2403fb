/** `svc mcp login` and `logout`: a person's consent that svc uses a hosted MCP server. Source: docs/design/models-and-tools.md#consent-to-an-mcp-server */
import { safeText } from '../../../base/text/escape-text.ts'
import { dieAtFailpoint } from '../../../base/failpoint.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import { createEgress } from '../../../base/net/egress.ts'
import { signalWithin } from '../../../base/signal-within.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { openLoginStore } from '../../../tools/oauth/login-command.ts'
import { ConsentError } from '../../../tools/oauth/authorization-code.ts'
import { McpTokenError } from '../../../tools/oauth/authorization-server.ts'
import { requestConsent, revokeLogin, type ConsentRequest } from '../../../tools/oauth/consent.ts'
import { withLoginLock } from '../../../tools/oauth/login-lock.ts'
import type { LoginStore } from '../../../tools/oauth/login-tokens.ts'
import type { McpLogin } from '../../../tools/oauth/login.ts'
import type { loginAnswer, logoutAnswer } from '../../answers/serve.ts'
import { openBrowser } from '../../dev/open-console.ts'
import { listenForRedirect } from '../../login/await-redirect.ts'
import { chooseLoginServer, listLoginServers, type ServerToLogIn } from '../../login/login-servers.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { wholeNumber } from '../../shell/numbers.ts'

/** For the person to consent. */
const CONSENT_MS = 600_000

type LoginCall = CommandContext<ValueOf<typeof loginAnswer>>

export async function mcpLogin(call: LoginCall): Promise<void> {
  const { given, mode, out } = call
  const { chosen, logins, fetch } = await openLogin(call)
  const { server, name, clientSecret } = chosen
  const port = wholeNumber(given.text('port'), 'port') ?? 0
  if (port > 65_535) throw usageFailure(`--port takes a number up to 65535, not ${port}.`)
  const listener = await listenForRedirect(port)
  try {
    const login = await consented(async () => {
      const { redirectUri } = listener
      const now = (): Date => new Date(call.io.clock.now())
      const request = await requestConsent({ server, clientSecret, redirectUri, fetch, now })
      ask(call, server.name, request)
      return await request.finish(await listener.next(request.isAnsweredBy, signalWithin(CONSENT_MS, call.signal)))
    })
    await keep(logins, name, login)
    dieAtFailpoint('login.kept')
    const kept = logins.keeper.placeOf(name)
    const { issuer, client_id, scope } = login
    if (mode.json)
      return await out.json({ server: server.name, url: server.url, issuer, client_id, scope: scope ?? null, kept })
    out.line(safeText(`logged in to ${server.name} at ${issuer}; kept ${logins.keeper.isLocal ? 'in ' : ''}${kept}`))
    out.hint('Runs that waited for it go on within minutes; svc runs resume RUN tries at once.')
  } finally {
    listener.close()
  }
}

/** The person sees who asks, and for what, before the browser opens. */
function ask({ given, out }: LoginCall, name: string, { issuer, scope, address }: ConsentRequest): void {
  out.message(
    safeText(`${name} lets svc in with a consent of yours at ${issuer}${scope === undefined ? '' : `, for ${scope}`}:`),
  )
  out.message(`  ${safeText(address)}`)
  out.hint('waiting for the browser; Ctrl-C ends')
  if (given.choice('open') !== false) openBrowser(address)
}

/** Nobody may renew the earlier login meanwhile, and write it over this one. */
const keep = (logins: LoginStore, name: string, login: McpLogin): Promise<void> =>
  withLoginLock(logins.dataDirectory, name, () => logins.keeper.write(name, login))

export async function mcpLogout(call: CommandContext<ValueOf<typeof logoutAnswer>>): Promise<void> {
  const { mode, out } = call
  const { chosen, logins, fetch } = await openLogin(call)
  const { server, name, clientSecret } = chosen
  const login = await withLoginLock(logins.dataDirectory, name, async () => {
    const kept = await logins.keeper.read(name).catch(() => null)
    if (kept !== undefined) await logins.keeper.erase(name)
    return kept
  })
  const revoked = login ? await revokeLogin(login, clientSecret, fetch) : false
  if (mode.json) return await out.json({ server: server.name, url: server.url, erased: login !== undefined, revoked })
  if (login === undefined) return out.line(safeText(`nobody was logged in to ${server.name}`))
  out.line(safeText(`logged out of ${server.name}`))
  if (!revoked)
    out.message(
      safeText(
        `${login?.issuer ?? 'Its authorization server'} did not confirm that it takes the consent back: end it there, too.`,
      ),
    )
}

async function openLogin(call: Pick<CommandContext, 'given' | 'cwd' | 'globals' | 'io'>): Promise<{
  readonly chosen: ServerToLogIn
  readonly logins: LoginStore
  readonly fetch: ReturnType<typeof createEgress>
}> {
  const { given, io } = call
  const project = await openProject(call)
  const { config, directory, dataDirectory, file } = project
  if (file === undefined) throw fail('no_project', { directory: call.cwd })
  const chosen = chooseLoginServer(await listLoginServers(project, io.env), given.argument(0), given.text('agent'))
  const logins = openLoginStore({ config, configDir: directory, dataDirectory, env: io.env })
  const fetch = createEgress({ from: 'document', allowedHosts: config.network?.allowed_hosts ?? [] })
  return { chosen, logins, fetch }
}

/** @throws Failure `login_refused` */
async function consented<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof ConsentError || error instanceof McpTokenError) throw refused(error)
    throw error
  }
}

const refused = (cause: Error): Failure => fail('login_refused', { what: safeText(cause.message) }, { cause })
