/** A company: its identity provider (`oidc-provider` from npm), and a server of svc at which its people sign in. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServer, type RunningServer, type ServerOptions } from '../../src/server/open.ts'
import type { SignInConfig } from '../../src/spec/project/config.ts'
import { asBrowser, type ConsoleResponse } from '../console/browser-session.ts'
import { options } from '../server/running.ts'
import { startOidc, type OidcWorld } from './oidc.ts'

/** What the provider says of whoever signs in. */
export interface CompanyPerson {
  email: string
  email_verified: boolean
  groups: readonly string[]
}

export interface Company {
  readonly provider: OidcWorld
  readonly server: RunningServer
  readonly url: string
  readonly person: CompanyPerson
  /** Presses the button and signs in at the provider. @returns where the browser was sent in the end */
  signIn(cookies?: Map<string, string>): Promise<SignedIn>
  close(): Promise<void>
}

export interface SignedIn {
  /** Address with which the provider sent the browser back. */
  readonly callback: string
  readonly status: number
  readonly page: string
  readonly cookies: Map<string, string>
  readonly pageKey: string | undefined
  /** Requests of this browser. */
  readonly send: (line: string, given?: { readonly body?: unknown }) => Promise<ConsoleResponse>
}

const SECRET = 'a-secret-of-the-client'

/** @param open the server; one without an agent where absent */
export async function openCompany(
  given: Partial<SignInConfig> = {},
  open: (options: ServerOptions) => Promise<RunningServer> = openServer,
): Promise<Company> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const person: CompanyPerson = { email: 'ana@acme.example', email_verified: true, groups: ['treasury'] }
  const provider = await startOidc({
    scopes: ['openid', 'email', 'groups'],
    features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    ttl: { AccessToken: 300, Grant: 3600, IdToken: 300, Interaction: 600, Session: 600 },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...person }) }),
    clients: [
      {
        client_id: 'svc',
        client_secret: SECRET,
        redirect_uris: [`${url}/sign-in/callback`],
        post_logout_redirect_uris: [`${url}/`],
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
      },
    ],
  })
  const own = options()
  const server = await open({
    ...own,
    config: {
      ...own.config,
      sign_in: {
        name: 'Acme',
        issuer: provider.issuer,
        client_id: 'svc',
        client_secret: { fromEnv: 'OIDC_SECRET' },
        allow_devices: true,
        scopes: ['email', 'groups'],
        groups: {
          treasury: { may: 'approve', roles: ['finance'] },
          platform: { may: 'operate' },
          auditors: { may: 'read' },
          leads: { may: 'administer' },
        },
        ...given,
      },
    },
    env: { ...own.env, OIDC_SECRET: SECRET },
    console: { port },
  })
  return {
    provider,
    server,
    url,
    person,
    async signIn(cookies = new Map()) {
      const begun = await asBrowser(url)('POST /sign-in/provider', { body: {} })
      if (begun.status !== 200) throw new Error(JSON.stringify(begun.body))
      keepCookies(begun.headers, cookies)
      const { address: callback } = await provider.visit(begun.body['address'] as string, cookies, `${url}/`)
      return await comeBack(callback, cookies)
    },
    async close() {
      await server.close()
      await provider.close()
    },
  }
}

/** The browser comes to an address with these cookies. */
export async function comeBack(callback: string, cookies: Map<string, string>): Promise<SignedIn> {
  const { origin } = new URL(callback)
  const response = await fetch(callback, {
    redirect: 'manual',
    headers: { accept: 'text/html', cookie: cookieHeader(cookies) },
  })
  keepCookies(response.headers, cookies)
  const pageKey = /#page-key=(\w+)$/.exec(response.headers.get('location') ?? '')?.[1]
  const page = await response.text()
  const send = asBrowser(origin, cookieHeader(cookies), pageKey)
  return { callback, status: response.status, page, cookies, pageKey, send }
}

const cookieHeader = (cookies: Map<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

function keepCookies(headers: Headers, cookies: Map<string, string>): void {
  for (const line of headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    cookies.set(name, value)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
