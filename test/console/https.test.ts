/** The console behind a proxy that ends TLS, as people on other machines reach it. Source: docs/design/console.md#signing-in */
import { request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from 'listhen'
import { expect, test } from 'vitest'
import { openServer } from '../../src/server/open.ts'
import { snapshotOf } from '../server/fixtures.ts'
import { ask, closing, DESK, options, publishDesk } from '../server/running.ts'
import { findFreePort } from '../free-port.ts'
import { describeInBrowser, openPage } from './browser.ts'
import { asBrowser } from './browser-session.ts'

/** A proxy of this machine with a certificate of its own; `to` is where the console listens. */
async function openProxy() {
  let to = ''
  const handle = (incoming: IncomingMessage, answer: ServerResponse): void => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }
    const sent = forward(`${to}${incoming.url}`, { method: incoming.method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    incoming.pipe(sent)
  }
  const listener = await listen(handle, { https: true, port: 0, hostname: '127.0.0.1', showURL: false })
  closing(() => listener.close())
  const { port } = listener.address
  return { url: `https://localhost:${port}`, pointAt: (url: string): void => void (to = url) }
}

/** A console that other machines reach, and its address without the proxy. */
async function openBehind(consoleUrl: string, proxy = '127.0.0.1') {
  const base = options()
  const network = { proxies: [proxy], hosts: ['localhost'] }
  const port = await findFreePort()
  const config = { ...base.config, console: { url: consoleUrl }, network }
  const server = await openServer({ ...base, config, console: { port, host: '0.0.0.0' } })
  closing(() => server.close())
  return { server, direct: `http://127.0.0.1:${port}` }
}

describeInBrowser('the console behind a proxy that ends TLS', () => {
  test('signs people in with their credential, keeps a cookie that only HTTPS carries, and is live', async () => {
    const proxy = await openProxy()
    const { server, direct } = await openBehind(proxy.url)
    proxy.pointAt(direct)
    expect((await ask<{ consoleUrl: string }>(server.operator, 'GET /status')).consoleUrl).toBe(proxy.url)
    const { url } = await ask<{ url: string }>(server.operator, 'POST /console/codes')
    expect(url).toMatch(new RegExp(`^${proxy.url}/#code=`))
    const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', {
      email: 'ben@acme.example',
    })
    const { page, problems } = await openPage(url, { ignoreHTTPSErrors: true })
    await page.getByText('from another machine people sign in with their credential').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('401')])
    await page.getByLabel('Credential').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    expect(await page.context().cookies()).toEqual([
      expect.objectContaining({
        name: '__Host-svc',
        domain: 'localhost',
        path: '/',
        secure: true,
        httpOnly: true,
        sameSite: 'Strict',
      }),
    ])
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByText('No agent').first().waitFor()
    await publishDesk(server.operator, {}, snapshotOf(DESK, '1.0.0', {}))
    await page.getByRole('link', { name: DESK }).first().waitFor()
    await page.locator('.health.live').waitFor()
  })
})

test('a request that did not come over TLS gets neither page nor data, and a forged header counts for nothing', async () => {
  const refusalsOf = async (url: string, headers: Record<string, string>) => {
    const page = await fetch(url, { headers: { ...headers, accept: 'text/html' } })
    const signIn = await asBrowser(url)('POST /sign-in', { body: { key: 'x' }, headers })
    return [page.status, page.headers.get('content-type')?.split(';')[0], signIn.body['code']]
  }
  const refused = [403, 'application/json', 'tls_required']
  const { direct } = await openBehind('https://localhost')
  expect(await refusalsOf(direct, {})).toEqual(refused)
  expect(await refusalsOf(direct, { 'x-forwarded-proto': 'http' })).toEqual(refused)
  const { direct: elsewhere } = await openBehind('https://localhost', '203.0.113.1')
  expect(await refusalsOf(elsewhere, { 'x-forwarded-proto': 'https' })).toEqual(refused)
})

test('over TLS a request must name the origin of the page, with https', async () => {
  const { server, direct } = await openBehind('https://localhost')
  const { secret } = await ask<{ secret: string }>(server.operator, 'POST /operator-keys', {
    email: 'ben@acme.example',
  })
  const signIn = (origin: string | undefined) =>
    asBrowser(direct)('POST /sign-in', { body: { key: secret }, headers: { 'x-forwarded-proto': 'https', origin } })
  const { host } = new URL(direct)
  for (const origin of [`http://${host}`, 'https://evil.example', undefined])
    expect((await signIn(origin)).status).toBe(403)
  const { status, headers } = await signIn(`https://${host}`)
  expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/^__Host-svc=.*; Secure$/)])
})
