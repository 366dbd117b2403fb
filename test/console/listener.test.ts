/** The operator listener: who gets in, and what a page of another site cannot do. Source: docs/design/console.md#what-the-page-may-do */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { openServer } from '../../src/server/open.ts'
import { ask, closing, directory, options, publishDesk } from '../server/running.ts'
import { asBrowser, newCode, openWithConsole, signedIn } from './browser-session.ts'

test('is off unless it is asked for', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  expect(server.consoleUrl).toBeNull()
  expect(await ask(server.operator, 'GET /status')).toMatchObject({ consoleUrl: null })
  await expect(ask(server.operator, 'POST /console/codes')).rejects.toThrow('console_off')
})

test('signs a browser in once by a code that only the fragment of an address has', async () => {
  const server = await openWithConsole()
  const url = server.consoleUrl!
  const made = await ask<{ url: string }>(server.operator, 'POST /console/codes')
  expect(made.url).toMatch(new RegExp(`^${url}/#code=[0-9A-Za-z]{38}$`))
  const code = new URL(made.url).hash.slice('#code='.length)
  const send = asBrowser(url)
  const first = await send('POST /sign-in', { body: { code } })
  const { pageKey } = first.body as { pageKey: string }
  expect([first.status, first.body]).toEqual([200, { operator: 'ana@acme.example', pageKey: expect.any(String) }])
  expect(first.headers.get('set-cookie')).toMatch(
    new RegExp(
      `^svc-console-${new URL(url).port}=[0-9A-Za-z]{38}\\.[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200$`,
    ),
  )
  const again = await send('POST /sign-in', { body: { code } })
  expect([again.status, again.body['code']]).toEqual([401, 'sign_in_refused'])
  const cookie = first.headers.get('set-cookie')!.split(';')[0]!
  expect(await asBrowser(url, cookie, pageKey)('GET /status')).toMatchObject({
    status: 200,
    body: { operator: 'ana@acme.example', consoleUrl: url, roles: [] },
  })
})

test('opens nothing without a session: neither a route nor an API key', async () => {
  const server = await openWithConsole()
  const { secret } = await publishDesk(server.operator)
  const send = asBrowser(server.consoleUrl!)
  for (const line of ['GET /status', 'GET /tasks', 'GET /v1/tasks', 'GET /live', 'POST /deploy', 'POST /console/codes'])
    for (const headers of [{}, { 'x-api-key': secret }, { cookie: `svc-console-1=${secret}` }])
      expect(await send(line, { body: line.startsWith('POST') ? {} : undefined, headers })).toMatchObject({
        status: 401,
        body: { code: 'not_signed_in' },
      })
  expect(await send('GET /status', { headers: { 'x-operator-key': secret } })).toMatchObject({
    status: 401,
    body: { code: 'invalid_operator_key' },
  })
  expect(await send('POST /sign-in', { body: { key: secret } })).toMatchObject({ status: 401 })
})

test('shows the reference of the HTTP API to whoever is signed in, under a policy of its own', async () => {
  const server = await openWithConsole()
  const { cookie } = await signedIn(server)
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const refused = await fetch(`${server.consoleUrl}/reference`, { headers })
  expect([refused.status, refused.headers.get('content-type')]).toEqual([401, 'application/json'])
  const shown = await fetch(`${server.consoleUrl}/reference`, { headers: { ...headers, cookie } })
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(shown.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri/,
  )
  expect(await shown.text()).toContain('<h1>Agent Run HTTP API</h1>')
})

test('takes the credential of a person in a header, as a command line sends it, without a session', async () => {
  const server = await openWithConsole()
  const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', {
    email: 'ben@acme.example',
    roles: ['finance'],
  })
  const response = await fetch(`${server.consoleUrl}/keys/019f0000-0000-7000-8000-000000000000/revoke`, {
    method: 'POST',
    headers: { 'x-operator-key': secret, 'content-type': 'application/json' },
    body: '{}',
  })
  expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
  const status = await fetch(`${server.consoleUrl}/status`, { headers: { 'x-operator-key': secret } })
  expect(await status.json()).toMatchObject({ operator: 'ben@acme.example', roles: ['finance'] })
})

test('saves a file of others, and never serves it as what it says it is', async () => {
  const server = await openWithConsole()
  const { secret } = await publishDesk(server.operator, { allowUploads: true })
  const post = (path: string, body: object) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((response) => response.json() as Promise<Record<string, never>>)
  const about = { filename: 'evil.js', mediaType: 'text/javascript', maxContentLength: 100 }
  const { objectKey, uploadUrl, requiredHeaders } = await post('/v1/file-library/presign', about)
  await fetch(uploadUrl!, { method: 'PUT', headers: requiredHeaders!, body: 'alert(1)' })
  await post('/v1/file-library/finalize', { objectKey, maxContentLength: 100 })
  const { send } = await signedIn(server)
  for (const accept of ['*/*', 'text/html']) {
    const { headers, body } = await send(`GET /files/content?key=${objectKey}`, { headers: { accept } })
    expect(body['text']).toBe('alert(1)')
    expect(headers.get('content-type')).toBe('application/octet-stream')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''[\w-]+evil\.js$/)
    expect(headers.get('content-security-policy')).toContain('sandbox')
  }
})

test('refuses a write that is not by the page itself', async () => {
  const server = await openWithConsole()
  const { send } = await signedIn(server)
  const refused = async (headers: Record<string, string | undefined>) => {
    const { status, body } = await send('POST /operator-keys', { body: { email: 'eve@acme.example' }, headers })
    return [status, body['code']]
  }
  expect(await refused({ origin: 'https://evil.example' })).toEqual([403, 'origin_not_allowed'])
  expect(await refused({ origin: server.url })).toEqual([403, 'origin_not_allowed'])
  expect(await refused({ origin: 'null' })).toEqual([403, 'origin_not_allowed'])
  expect(await refused({ origin: undefined })).toEqual([403, 'console_header_missing'])
  expect(await refused({ 'x-svc-console': undefined })).toEqual([403, 'console_header_missing'])
  expect(await refused({ 'content-type': 'text/plain' })).toEqual([415, 'unsupported_media_type'])
  expect(await refused({})).toEqual([200, undefined])
  expect((await send('GET /keys')).body['total']).toBe(1)
})

test('takes no request with the cookie alone, which other web servers of the host name get too', async () => {
  const server = await openWithConsole()
  const { cookie, pageKey } = await signedIn(server)
  const other = await signedIn(server)
  const written = readFileSync('src/server/operator-app.ts', 'utf8').matchAll(
    /^ {2}'((?:GET|POST|PATCH|DELETE) \/[^']*)':/gm,
  )
  const own = Array.from(written, ([, line]) => line!.replace(':id', 'x'))
  const lines = own.concat(['tasks', 'runs/x', 'runs/x/conversation'].map((path) => `GET /v1/${path}`))
  lines.push('POST /v1/runs/x/messages', 'POST /v1/runs/x/input')
  // What the browser itself reads for the page has no header of the page's own; it changes nothing.
  const byBrowser = new Set(['GET /live', 'GET /reference', 'GET /files/content', 'GET /v1/runs/x/stream'])
  const refused = lines.filter((line) => !byBrowser.has(line))
  expect(refused.length).toBeGreaterThan(60)
  for (const half of [undefined, '', 'x', cookie.split('.')[1], other.pageKey])
    for (const line of refused)
      expect([
        line,
        await asBrowser(server.consoleUrl!, cookie, half)(line, line.startsWith('GET') ? {} : { body: {} }),
      ]).toMatchObject([line, { status: 401, body: { code: 'not_signed_in' } }])
  // The other half alone is nothing either.
  expect((await asBrowser(server.consoleUrl!, undefined, pageKey)('GET /status')).status).toBe(401)
  expect((await asBrowser(server.consoleUrl!, cookie, pageKey)('GET /status')).status).toBe(200)
})

test('answers no request for another host, so that a site cannot point its own name here', async () => {
  const server = await openWithConsole()
  const { cookie, pageKey } = await signedIn(server)
  const { port } = new URL(server.consoleUrl!)
  const answered = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { host, cookie, 'x-svc-page-key': pageKey }
      const sent = request({ host: '127.0.0.1', port, path: '/status', headers }, (response) => {
        resolve(response.statusCode!)
        response.resume()
      })
      sent.on('error', reject).end()
    })
  expect(await answered(`127.0.0.1:${port}`)).toBe(200)
  expect(await answered(`localhost:${port}`)).toBe(200)
  expect(await answered(`evil.example:${port}`)).toBe(403)
})

test('serves the page for every address that a browser navigates to, under headers that run its own script alone', async () => {
  const server = await openWithConsole()
  const send = asBrowser(server.consoleUrl!)
  for (const path of ['/', '/runs/3f2a91?step=17&tab=why', '/tasks', '/inbox']) {
    const { status, headers, body } = await send(`GET ${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(body['text']).toContain('<script type="module" src="/assets/console.js"></script>')
    expect(body['text']).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/)
  }
  const { headers } = await send('GET /status')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'none'; " +
      "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  )
  for (const [name, value] of [
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
    ['access-control-allow-origin', null],
  ] as const)
    expect(headers.get(name)).toBe(value)
})

test.each(['*/*', 'application/json', ''])(
  'answers its bare address with the page to a program that accepts "%s"',
  async (accept) => {
    const server = await openWithConsole()
    const { status, headers } = await asBrowser(server.consoleUrl!)('GET /', { headers: { accept } })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  },
)

test('tells a browser with the page what it needs at once', async () => {
  const server = await openWithConsole()
  const { headers } = await asBrowser(server.consoleUrl!)('GET /', { headers: { accept: 'text/html' } })
  const links = headers.get('link')!.split(', ')
  expect(links.slice(0, 2)).toEqual([
    '</assets/style.css>; rel=preload; as=style',
    '</assets/console.js>; rel=modulepreload',
  ])
  for (const link of links) expect((await fetch(server.consoleUrl! + /<(.*)>/.exec(link)![1]!)).status).toBe(200)
})

test('writes what the page was stopped from into the log, bounded and escaped, for who is signed in', async () => {
  const lines: unknown[] = []
  const server = await openWithConsole({ log: { ...silentLog, write: (...line: unknown[]) => void lines.push(line) } })
  const report = {
    directive: 'script-src-elem',
    blocked: 'https://evil.example/\u202e',
    source: 'x'.repeat(999),
    line: 3,
  }
  const nobody = await asBrowser(server.consoleUrl!)('POST /console/reports', { body: report })
  expect(nobody.body['code']).toBe('not_signed_in')
  const { send } = await signedIn(server)
  expect((await send('POST /console/reports', { body: report })).body).toEqual({ reported: true })
  const told = lines.filter((line) => JSON.stringify(line).includes('script-src-elem'))
  expect(told).toEqual([
    [
      'warn',
      'the page of the console was stopped by its own policy',
      {
        operator: 'ana@acme.example',
        directive: 'script-src-elem',
        blocked: String.raw`https://evil.example/\u202e`,
        source: 'x'.repeat(200),
        line: '3',
      },
    ],
  ])
  for (let more = 0; more < 30; more++) await send('POST /console/reports', { body: report })
  expect(lines.filter((line) => JSON.stringify(line).includes('script-src-elem')).length).toBeLessThanOrEqual(40)
})

test('serves its files with a digest, and nothing beside them', async () => {
  const server = await openWithConsole()
  const send = asBrowser(server.consoleUrl!)
  const { headers } = await send('GET /assets/console.js')
  const etag = headers.get('etag')!
  expect([headers.get('content-type'), etag]).toEqual(['text/javascript; charset=utf-8', expect.stringMatching(/^"/)])
  expect((await send('GET /assets/console.js', { headers: { 'if-none-match': etag } })).status).toBe(304)
  for (const path of ['/assets/..%2fstart.js', '/assets/../start.js', '/assets/none.js'])
    expect((await send(`GET ${path}`)).status).not.toBe(200)
})

test('lists the browsers that are signed in, and signs one out at once, with its open stream', async () => {
  const server = await openWithConsole()
  const [here, there] = [await signedIn(server), await signedIn(server)]
  const { body } = await here.send('GET /console/sessions')
  const sessions = body['items'] as { sessionId: string; isThis: boolean; operator: string }[]
  expect(sessions.map(({ isThis, operator }) => [isThis, operator])).toEqual([
    [false, 'ana@acme.example'],
    [true, 'ana@acme.example'],
  ])
  expect(JSON.stringify(body)).not.toContain(there.cookie.split('=')[1])
  const stream = await fetch(`${server.consoleUrl}/live`, { headers: { cookie: there.cookie } })
  const ended = stream.text()
  await here.send(`POST /console/sessions/${sessions[0]!.sessionId}/end`, { body: {} })
  expect(await ended).toContain('data: ')
  expect((await there.send('GET /status')).status).toBe(401)
  expect((await here.send('GET /status')).status).toBe(200)
})

test('ends the session of a credential that is revoked, and every session that signs in again or out', async () => {
  const server = await openWithConsole()
  const key = await ask<{ secret: string; keyId: string }>(server.operator, 'POST /operator-keys', {
    email: 'ben@acme.example',
  })
  const ben = await signedIn(server, key.secret)
  expect((await ben.send('GET /status')).body['operator']).toBe('ben@acme.example')
  const again = await ben.send('POST /sign-in', { body: { key: key.secret } })
  expect((await ben.send('GET /status')).status).toBe(401)
  const { pageKey } = again.body as { pageKey: string }
  const next = asBrowser(server.consoleUrl!, again.headers.get('set-cookie')!.split(';')[0]!, pageKey)
  expect((await next('GET /status')).status).toBe(200)
  await ask(server.operator, `POST /keys/${key.keyId}/revoke`, {})
  expect((await next('GET /status')).status).toBe(401)
  const ana = await signedIn(server)
  const out = await ana.send('POST /sign-out', { body: {} })
  expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
  expect((await ana.send('GET /status')).status).toBe(401)
})

test('keeps a session over a restart, and only its hash', async () => {
  const dataDirectory = directory()
  const first = await openServer({ ...options(dataDirectory), console: { port: 0 } })
  const { cookie, pageKey } = await signedIn(first)
  const port = Number(new URL(first.consoleUrl!).port)
  await first.close()
  const second = await openServer({ ...options(dataDirectory), console: { port } })
  closing(() => second.close())
  expect((await asBrowser(second.consoleUrl!, cookie, pageKey)('GET /status')).status).toBe(200)
  const [session] = await second.store.consoleSessions((await workspaceOf(second)) as never, 1)
  expect(session!.hash).toMatch(/^[0-9a-f]{64}$/)
})

const workspaceOf = async (server: Awaited<ReturnType<typeof openServer>>) =>
  (await server.store.consoleSessionByHash('')) ?? (await import('../../src/base/ids.ts')).workspaceIdOf('acme')

test('beyond loopback listens only behind a proxy that ends TLS', async () => {
  await expect(openServer({ ...options(), console: { port: 0, host: '0.0.0.0' } })).rejects.toThrow('network.proxies')
})

test('beyond loopback lets people in who have a credential and come over HTTPS, and nobody else', async () => {
  const base = options()
  const config = { ...base.config, network: { proxies: ['127.0.0.1'], hosts: ['desk.example'] } }
  const server = await openServer({ ...base, config, console: { port: 0, host: '0.0.0.0' } })
  closing(() => server.close())
  const url = `http://127.0.0.1:${new URL(server.consoleUrl!).port}`
  const host = new URL(url).host
  const https = { 'x-forwarded-proto': 'https', origin: `https://${host}` }
  const send = asBrowser(url)
  expect((await send('GET /status')).body['code']).toBe('tls_required')
  const code = await newCode(server)
  expect(await send('POST /sign-in', { body: { code }, headers: https })).toMatchObject({
    status: 401,
    body: { code: 'sign_in_refused' },
  })
  const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', {
    email: 'ben@acme.example',
  })
  const { headers, body } = await send('POST /sign-in', { body: { key: secret }, headers: https })
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-svc=\w+\.\w+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  )
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  const { pageKey } = body as { pageKey: string }
  expect((await asBrowser(url, cookie, pageKey)('GET /status', { headers: https })).body['operator']).toBe(
    'ben@acme.example',
  )
})
