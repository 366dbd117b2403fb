/** People sign in at a certified provider, in browsers and on the command line. Source: docs/design/security.md#sign-in-for-teams */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { beginSignIn } from '../../../src/server/sign-in/begun-sign-in.ts'
import type { ActView } from '../../../src/operations/acts.ts'
import { going, svc } from '../../cli/recording-io.ts'
import { asBrowser } from '../../console/browser-session.ts'
import { comeBack, openCompany, type Company } from '../../fakes/company.ts'
import { isOidcInstalled } from '../../fakes/oidc.ts'
import { removeDirectory } from '../../remove-directory.ts'
import { waitUntil } from '../../wait-until.ts'
import { openWaitingRefund, type WaitingRefund } from '../gated-desk.ts'
import { ask } from '../running.ts'

describe.skipIf(!isOidcInstalled)('with npm ci --prefix test/tools/oidc --ignore-scripts', () => {
  let company: Company
  let home: string
  beforeAll(async () => {
    company = await openCompany()
    home = mkdtempSync(join(tmpdir(), 'svc-home-'))
  })
  afterAll(async () => {
    await company.close()
    removeDirectory(home)
  })
  beforeEach(() => {
    Object.assign(company.person, { email: 'ana@acme.example', email_verified: true, groups: ['treasury', 'cycling'] })
  })

  const lastActs = async (count: number): Promise<readonly Partial<ActView>[]> => {
    const { items } = await ask<{ items: ActView[] }>(company.server.operator, 'GET /acts')
    return items.slice(0, count)
  }
  const said = (page: string): string | undefined => /<h1>Nobody was signed in<\/h1><p>([^<]*)<\/p>/.exec(page)?.[1]

  test('the button leads there and back, and the session is that person with the roles of the mapped groups', async () => {
    const { send, cookies, status } = await company.signIn()
    expect(status).toBe(303)
    const { body } = await send('GET /status')
    const endsAt = expect.stringMatching(/^20\d\d-/) as string
    expect([body['operator'], body['roles'], body['signIn']]).toEqual([
      'ana@acme.example',
      ['finance'],
      { provider: 'Acme', may: 'approve', groups: ['treasury'], earlierGroups: null, endsAt },
    ])
    expect(await asBrowser(company.url)('GET /sign-in')).toMatchObject({ body: { signedIn: false, provider: 'Acme' } })
    // The cookie alone is nothing, as without a provider.
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    expect((await asBrowser(company.url, cookie)('GET /status')).status).toBe(401)
    expect(await lastActs(1)).toMatchObject([
      {
        kind: 'console.signed_in',
        by: 'operator:ana@acme.example',
        proof: 'credential',
        channel: 'console',
        refused: null,
        after: { subject: 'ana', groups: ['treasury'] },
      },
    ])
  })

  test('what the groups do not allow is refused, and recorded', async () => {
    const { send } = await company.signIn()
    const deploy = { body: { agent: 'acme.desk', version: '1.0.0' } }
    const refused = await send('POST /deploy', deploy)
    expect([refused.status, refused.body]).toMatchObject([
      403,
      { code: 'not_permitted', error: 'Your groups let you approve here, and this takes the right to operate.' },
    ])
    expect(await lastActs(1)).toMatchObject([
      { kind: 'access.used', by: 'operator:ana@acme.example', subject: 'POST /deploy', refused: 'not_permitted' },
    ])
    company.person.groups = ['platform']
    const platform = await company.signIn()
    expect((await platform.send('POST /deploy', deploy)).status).toBe(404)
    // Neither a code for another browser, which would be the local identity, nor a credential with any role.
    for (const line of ['POST /console/codes', 'POST /operator-keys', 'POST /trust', 'POST /backup'])
      expect([line, await platform.send(line, { body: { email: 'ana@acme.example' } })]).toMatchObject([
        line,
        { status: 403, body: { code: 'not_permitted' } },
      ])
    company.person.groups = ['leads']
    const lead = await company.signIn()
    expect(await lead.send('POST /console/codes', { body: {} })).toMatchObject({ status: 403 })
    expect(await lead.send('POST /operator-keys', { body: { email: 'ben@acme.example' } })).toMatchObject({
      status: 200,
    })
    company.person.groups = ['auditors']
    const auditor = await company.signIn()
    expect((await auditor.send('GET /tasks')).status).toBe(200)
    for (const line of [
      'POST /v1/runs/x/messages',
      'POST /runs/x/messages',
      'POST /tasks/x/claim',
      'PATCH /sessions/x',
      'DELETE /sessions/x',
      'POST /mcp',
      'POST /passkeys/challenge',
    ])
      expect([line, (await auditor.send(line, { body: {} })).body['code']]).toEqual([line, 'not_permitted'])
  })

  test('whose groups changed has other rights from the next sign-in on, and is told', async () => {
    const before = await company.signIn()
    company.person.groups = ['auditors']
    expect((await before.send('GET /status')).body['roles']).toEqual(['finance'])
    const after = await company.signIn()
    expect((await after.send('GET /status')).body).toMatchObject({
      roles: [],
      signIn: { may: 'read', groups: ['auditors'], earlierGroups: ['treasury'] },
    })
  })

  test.each<[string, object, string]>([
    [
      'in no mapped group',
      { groups: ['cycling'] },
      'Not signed in: ana@acme.example is in none of the groups that sign_in.groups names.',
    ],
    [
      'whose address is not verified',
      { email_verified: false },
      'Not signed in: the provider says that the e-mail address is not verified (email_verified: false), whatever sign_in assumes: verify it there.',
    ],
  ])('a person %s reads why on the page, and the refusal is recorded', async (_, changed, sentence) => {
    Object.assign(company.person, changed)
    const { status, page, pageKey } = await company.signIn()
    expect([status, pageKey]).toEqual([403, undefined])
    expect(said(page)).toBe(
      `${sentence} Whoever keeps the groups at the provider, and sign_in of the configuration, can let you in.`,
    )
    expect(await lastActs(1)).toMatchObject([
      { kind: 'console.signed_in', by: 'unknown:', subject: 'GET /sign-in/callback', refused: 'not_let_in' },
    ])
  })

  test('an answer counts once, in its own browser, and in time', async () => {
    const asked = company.provider.asked.filter((each) => each === 'POST /token').length
    const first = await company.signIn()
    const again = await comeBack(first.callback, new Map(first.cookies))
    expect([again.status, again.page, await lastActs(1)]).toMatchObject([303, '', [{ refused: null }]])
    expect(company.provider.asked.filter((each) => each === 'POST /token')).toHaveLength(asked + 1)
    const elsewhere = await comeBack(first.callback, new Map())
    expect([elsewhere.status, said(elsewhere.page)]).toEqual([
      401,
      'Not signed in: this browser did not begin it, or finished it already. Begin again: at the console, or with the address that svc console prints.',
    ])
    const { port } = new URL(company.url)
    const late = beginSignIn(Date.now() - 700_000)
    const swapped = new Map([[`svc-sign-in-${port}`, beginSignIn(Date.now()).cookie]])
    expect((await comeBack(first.callback, swapped)).page).toContain('has begun another one since')
    const answer = `${company.url}/sign-in/callback?code=x&state=${late.state}`
    const old = await comeBack(answer, new Map([[`svc-sign-in-${port}`, late.cookie]]))
    expect(said(old.page)).toContain('it was begun more than ten minutes ago')
    // The first session has lost nothing.
    expect((await first.send('GET /status')).status).toBe(200)
  })

  test('is begun by the page itself, at the address that the provider knows', async () => {
    const own = asBrowser(company.url)
    expect(await own('POST /sign-in/provider', { body: {}, headers: { 'x-svc-console': undefined } })).toMatchObject({
      status: 403,
    })
    const host = company.url.replace('127.0.0.1', 'localhost')
    const other = await asBrowser(host)('POST /sign-in/provider', { body: {} })
    expect([other.status, other.body['error']]).toEqual([401, `Not signed in: people sign in at ${company.url}.`])
  })

  test('signing out ends it here and leads to the provider, which comes back', async () => {
    const { send, cookies } = await company.signIn()
    const { body, headers } = await send('POST /sign-out', { body: {} })
    const address = new URL(body['address'] as string)
    expect(address.href).toBe(
      `${company.provider.issuer}/session/end?client_id=svc&post_logout_redirect_uri=${encodeURIComponent(`${company.url}/`)}`,
    )
    expect(headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await send('GET /status')).status).toBe(401)
    expect(await lastActs(1)).toMatchObject([{ kind: 'console.signed_out', by: 'operator:ana@acme.example' }])
    const { page } = await company.provider.visit(address.href, cookies, `${company.url}/`)
    expect(page).toContain('Do you want to sign-out')
  })

  test('a provider that is away stops nobody who is signed in, and says so to others', async () => {
    const { send } = await company.signIn()
    company.provider.broken = 503
    const { status, page } = await company.signIn().finally(() => (company.provider.broken = undefined))
    expect([status, said(page)]).toEqual([
      503,
      'Acme cannot be asked who you are: it answered 503 without a token. Try again; until then a credential of yours signs in, and sessions that exist go on.',
    ])
    expect((await send('GET /status')).status).toBe(200)
  })

  describe('svc login', () => {
    const env = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: home })
    const run = (...args: string[]) => svc(args, { cwd: home, env: env() })

    async function logIn(): Promise<{ code: number; stdout: string; stderr: string; page: string }> {
      const login = going(['login', company.url, '--no-open'], { cwd: home, env: env() })
      const address = (): string | undefined => /^ {2}(http\S+)$/m.exec(login.world.stderr())?.[1]
      await Promise.race([login.code, waitUntil(() => address() !== undefined)])
      const cookies = new Map<string, string>()
      const asks = await comeBack(address()!, cookies)
      const letters = /must show ([0-9A-F]{4}-[0-9A-F]{4}):/.exec(login.world.stderr())?.[1]
      expect(asks.page).toContain(`It shows ${letters}: sign in with Acme`)
      const link = /href="(\/sign-in\/begin\?seal=[\w-]+)"/.exec(asks.page)![1]!
      const { page } = await company.provider.visit(company.url + link, cookies, 'http://never')
      const code = await login.code
      return { code, stdout: login.world.stdout(), stderr: login.world.stderr(), page }
    }

    test('keeps a session that commands for this server use, until svc logout', async () => {
      const { code, stdout, page } = await logIn()
      expect([code, page]).toEqual([
        0,
        'svc has the answer: the terminal says what became of it. You can close this page.\n',
      ])
      expect(stdout).toMatch(new RegExp(`^signed in to ${company.url} as ana@acme\\.example, until 20`))
      const [file] = readdirSync(join(home, 'svc/sessions'))
      const path = join(home, 'svc/sessions', file!)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(await run('inbox', '--json', '--url', company.url)).toMatchObject({
        code: 0,
        stdout: '{"items":[],"total":0}\n',
      })
      const sessions = await run('console', '--sessions', '--json', '--url', company.url)
      expect(JSON.parse(sessions.stdout).items[0]).toMatchObject({
        purpose: 'command',
        isThis: true,
        groups: ['treasury'],
      })
      expect(await run('publish', '--url', company.url)).not.toMatchObject({ code: 0 })
      expect(await lastActs(20)).toContainEqual(
        expect.objectContaining({
          kind: 'console.signed_in',
          channel: 'api',
          subject: 'the command line, as ana@acme.example',
        }),
      )
      // What travelled through the browser is half of it.
      const { credential } = JSON.parse(readFileSync(path, 'utf8')) as { credential: string }
      const [given, half] = credential.split('.')
      for (const wrong of [given!, `${given}.${half!.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))}`])
        expect((await fetch(`${company.url}/status`, { headers: { 'x-operator-key': wrong } })).status).toBe(401)
      expect(await run('logout', company.url)).toMatchObject({ code: 0, stdout: `signed out of ${company.url}\n` })
      expect((await fetch(`${company.url}/status`, { headers: { 'x-operator-key': credential } })).status).toBe(401)
      expect(readdirSync(join(home, 'svc/sessions'))).toEqual([])
      expect(await run('logout', company.url)).toMatchObject({
        code: 0,
        stdout: `nobody was signed in to ${company.url}\n`,
      })
    })

    test('signs a machine without a browser in, with one elsewhere', async () => {
      // The provider asks for five seconds between two questions, and two of them find nobody.
      const outages = [() => new Response('', { status: 503 }), () => Promise.reject(new TypeError('fetch failed'))]
      let asked = 0
      const hasty: typeof fetch = async (...given) => {
        const isQuestion = (given[0] as string).endsWith('/sign-in/device') && asked++ > 0
        const outage = isQuestion ? outages.shift() : undefined
        if (outage) return await outage()
        const response = await fetch(...given)
        return Response.json({ ...((await response.json()) as object), intervalSeconds: 0 }, response)
      }
      const login = going(['login', company.url, '--device', '--json'], { cwd: home, env: env(), fetch: hasty })
      const address = (): string | undefined => /^ {2}(http\S+)$/m.exec(login.world.stderr())?.[1]
      await Promise.race([login.code, waitUntil(() => address() !== undefined)])
      const { page } = await company.provider.visit(address()!, new Map(), 'http://never')
      expect([page.replaceAll(/<[^>]+>/g, ' ').includes('Sign-in Success'), await login.code]).toEqual([true, 0])
      expect(JSON.parse(login.world.stdout())).toMatchObject({
        server: company.url,
        operator: 'ana@acme.example',
        roles: ['finance'],
        may: 'approve',
      })
      expect(outages).toEqual([])
      expect(await run('logout', company.url, '--json')).toMatchObject({
        stdout: `${JSON.stringify({ server: company.url, erased: true, ended: true })}\n`,
      })
    })

    test('is refused where others can read its file, and says how to sign in again once it has ended', async () => {
      await logIn()
      const [file] = readdirSync(join(home, 'svc/sessions'))
      const path = join(home, 'svc/sessions', file!)
      chmodSync(path, 0o644)
      const open = await run('inbox', '--url', company.url)
      expect([open.code, open.stderr]).toEqual([2, expect.stringContaining(`${path} can be read by others.`) as string])
      chmodSync(path, 0o600)
      const { send } = await company.signIn()
      const ended = await ask(company.server.operator, 'POST /console/sign-out', { operator: 'ANA@acme.example' })
      expect(ended).toEqual({ operator: 'ana@acme.example' })
      expect((await send('GET /status')).status).toBe(401)
      const refused = await run('inbox', '--url', company.url)
      expect([refused.code, refused.stderr]).toEqual([
        4,
        expect.stringContaining('Sign in again: svc login.') as string,
      ])
      expect(await lastActs(1)).toMatchObject([{ refused: 'invalid_operator_key' }])
      const none = await svc(['console', '--end-all', 'ana@acme.example', '--url', company.url], {
        cwd: home,
        env: env(),
      })
      expect(none.code).toBe(4)
    })

    test('goes on for nobody who has not read the letters on a page of this browser', async () => {
      const challenge = 'c'.repeat(43)
      const cookies = new Map<string, string>()
      await comeBack(`${company.url}/sign-in/command?port=8976&challenge=${challenge}`, cookies)
      for (const seal of ['', 'x'.repeat(43)]) {
        const { status, page } = await comeBack(`${company.url}/sign-in/begin?seal=${seal}`, new Map(cookies))
        expect([status, said(page)]).toEqual([
          401,
          expect.stringContaining('this browser has begun another one since') as string,
        ])
      }
      for (const query of [
        '',
        'port=0&challenge=' + challenge,
        'port=80@evil.example&challenge=' + challenge,
        'port=80&challenge=x',
      ])
        expect((await comeBack(`${company.url}/sign-in/command?${query}`, new Map())).status).toBe(401)
    })
  })

  test('a task that asks for a role is decided by whose group has it, under the verified address', async () => {
    let refund: WaitingRefund | undefined
    const treasury = await openCompany({}, async (options) => {
      refund = await openWaitingRefund(undefined, options, { approver_role: 'finance' })
      return refund.server
    })
    onTestFinished(() => treasury.close())
    const { runId, userTaskId } = refund!
    const approve = async (groups: readonly string[], name: string) => {
      Object.assign(treasury.person, { groups, email: `${name}@acme.example` })
      const { send } = await treasury.signIn()
      const { body } = await send(`POST /runs/${runId}/messages`, { body: { userTaskId, approved: true } })
      return body['code'] ?? body['error'] ?? 'accepted'
    }
    expect(await approve(['auditors'], 'eva')).toBe('not_permitted')
    expect(await approve(['platform'], 'ben')).toBe('not_an_approver')
    expect(await approve(['treasury'], 'ana')).toBe('accepted')
    await refund!.until(runId, 'engine.session.completed')
    const { items } = await ask<{ items: ActView[] }>(treasury.server.operator, 'GET /acts')
    const answered = items
      .filter(({ kind }) => kind === 'run.answered')
      .map(({ by, proof, channel, refused }) => [by, proof, channel, refused])
    expect(answered).toEqual([
      ['operator:ana@acme.example', 'credential', 'console', null],
      ['operator:ben@acme.example', 'credential', 'console', 'not_an_approver'],
    ])
    const { decided } = (
      await ask<{ people: { decided: unknown } }>(treasury.server.operator, `GET /tasks/${userTaskId}`)
    ).people
    expect(decided).toMatchObject({ by: 'operator ana@acme.example' })
  })
})
