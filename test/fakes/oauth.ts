import { createServer } from 'node:http'
import { listen, stop } from './model-server.ts'

export interface FakeOauth {
  readonly issuer: string
  /** What each request for a token asked for, its credentials included. */
  readonly asked: readonly Readonly<Record<string, string>>[]
  /** Tokens that servers accept. */
  readonly valid: Set<string>
  /** Ways in which clients may authenticate. */
  methods: readonly string[]
  /** The issuer that its metadata names, where that is another. */
  named: string | undefined
  /** Secret of the client `svc`. */
  secret: string
  /** Seconds that a token lasts; undefined where the server does not say. */
  expiresIn: number | undefined
  /** Takes requests for tokens, and never answers. */
  isSilent: boolean
  /** Further members of the answer with a token. */
  more: object
  /** Answers requests for tokens with this status and body in place of a token. */
  broken: { readonly status: number; readonly body: string } | undefined
  close(): Promise<void>
}

/** An authorization server that knows one client. */
export async function startFakeOauth(): Promise<FakeOauth> {
  const asked: Record<string, string>[] = []
  const server = createServer((request, response) => {
    const sendJson = (status: number, value: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (request.url?.startsWith('/.well-known/oauth-authorization-server'))
      return sendJson(200, {
        issuer: fake.named ?? fake.issuer,
        token_endpoint: `${fake.issuer}/token`,
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: fake.methods,
      })
    if (request.url !== '/token') return sendJson(404, {})
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const client = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
      asked.push({ client, ...Object.fromEntries(new URLSearchParams(body)) })
      if (fake.isSilent) return undefined
      if (fake.broken) return response.writeHead(fake.broken.status).end(fake.broken.body)
      if (client !== `svc:${fake.secret}`)
        return sendJson(401, { error: 'invalid_client', error_description: 'wrong secret' })
      const token = `token-of-the-test-${asked.length}`
      fake.valid.add(token)
      return sendJson(200, { access_token: token, token_type: 'Bearer', expires_in: fake.expiresIn, ...fake.more })
    })
  })
  const fake: FakeOauth = {
    issuer: await listen(server),
    asked,
    valid: new Set(),
    methods: ['client_secret_basic'],
    named: undefined,
    secret: 'client-secret-1',
    expiresIn: 300,
    isSilent: false,
    more: {},
    broken: undefined,
    close: () => stop(server),
  }
  return fake
}
