/** `svc mcp login` against a certified authorization server, and what a server makes of the login. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestOfJson } from '../../src/base/digest.ts'
import { createRedactor } from '../../src/base/secret.ts'
import type { AuthorizationCodeAuth, McpServer } from '../../src/spec/document.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import type { Toolbox } from '../../src/tools/tool.ts'
import { isOidcInstalled, startOidc, type OidcWorld } from '../fakes/oidc.ts'
import { waitUntil } from '../wait-until.ts'
import { removeDirectory } from '../remove-directory.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from '../tools/invocation.ts'
import { going, svc, type Ran } from './recording-io.ts'

describe.skipIf(!isOidcInstalled)('with npm ci --prefix test/tools/oidc --ignore-scripts', () => {
  let world: OidcWorld
  let directory: string
  let toolbox: Toolbox
  let now = 0
  const clock = { now: () => Date.UTC(2026, 0, 1) + now, monotonic: () => now }
  const redactor = createRedactor()

  beforeEach(async () => {
    now = 0
    world = await startOidc()
    directory = mkdtempSync(join(tmpdir(), 'svc-login-'))
    write({})
    toolbox = openToolbox()
  })
  afterEach(async () => {
    await toolbox.close()
    await world.close()
    removeDirectory(directory)
  })

  const openToolbox = (config: ProjectConfig = {}): Toolbox =>
    toolboxWith(config, { redactor, clock, configDir: directory, dataDirectory: join(directory, '.svc') })
  const serverOf = (auth: Partial<AuthorizationCodeAuth>): McpServer => ({
    name: 'crm',
    url: world.mcp.url,
    auth: { scheme: 'authorization_code', ...auth },
  })
  const write = (auth: Partial<AuthorizationCodeAuth>, config = ''): void => {
    writeFileSync(
      join(directory, 'svc.config.yaml'),
      `workspace: acme\nproviders: { scripted: { type: scripted } }\n${config}`,
    )
    writeFileSync(
      join(directory, 'agent.yaml'),
      `apiVersion: svc/v1
kind: Agent
metadata: { namespace: acme, name: desk, version: 1.0.0 }
spec:
  purpose: Looks.
  instructions: { text: Look. }
  model: { provider: scripted, name: m }
  tools:
    - { ref: acme.look@^1, side_effect_class: read_only, mcp: { server: crm } }
  mcp_servers: [${JSON.stringify(serverOf(auth))}]
`,
    )
  }
  const call = async (auth: Partial<AuthorizationCodeAuth> = {}): Promise<object> => {
    const tool = toolNamed('acme.look', { mcp: { server: 'crm', tool: 'look' } })
    const agent = agentWith({ digest: digestOfJson(auth), mcpServers: [serverOf(auth)] })
    return timeless(await toolbox.route(agent, tool)!.invoke(invocationOf(tool, {}), new AbortController().signal))
  }
  const run = (...args: string[]): Promise<Ran> =>
    svc(args, { cwd: directory, env: { PATH: process.env['PATH'] ?? '' } })
  const logIn = async (
    choice?: 'abort',
  ): Promise<{ readonly page: string; readonly code: number; readonly stdout: string; readonly stderr: string }> => {
    const login = going(['mcp', 'login', 'crm', '--no-open'], { cwd: directory })
    const address = (): string | undefined => /^ {2}(http\S+)$/m.exec(login.world.stderr())?.[1]
    await Promise.race([login.code, waitUntil(() => address() !== undefined)])
    const page = address() === undefined ? '' : await world.browse(address()!, choice)
    const code = await login.code
    return { page, code, stdout: login.world.stdout(), stderr: login.world.stderr() }
  }
  const files = (): readonly string[] => readdirSync(join(directory, '.svc/mcp-logins'))
  const kept = (): string => readFileSync(join(directory, '.svc/mcp-logins', files()[0]!), 'utf8')
  const SEEN = { at: 'returned', isError: false, result: 'seen' }
  const held = (error: unknown): object => ({ at: 'not_sent', code: 'secret_missing', error })

  test('a person consents in the browser, and calls go through; the refresh token is in a file of the owner alone', async () => {
    expect(await call()).toEqual(held('MCP server "crm": Nobody has logged in to it. Run svc mcp login crm.'))
    const { page, code, stdout, stderr } = await logIn()
    expect(page).toContain('svc has the answer')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`logged in to crm at ${world.issuer}; kept in `)])
    expect(await call()).toEqual(SEEN)
    expect(await call()).toEqual(SEEN)
    const [token] = [...world.accepted]
    expect(world.accepted.size).toBe(2)
    expect(files()).toHaveLength(1)
    expect(statSync(join(directory, '.svc/mcp-logins', files()[0]!)).mode & 0o777).toBe(0o600)
    expect(kept()).toContain(world.refreshTokens.at(-1))
    expect(kept()).not.toContain(token)
    for (const secret of [...world.refreshTokens, ...world.accepted]) expect(stdout + stderr).not.toContain(secret)
  })

  test('the token is renewed before it ends, and each new refresh token is kept before its access token is used', async () => {
    await logIn()
    await call()
    now = 241_000
    expect(await call()).toEqual(SEEN)
    expect(world.refreshTokens).toHaveLength(3)
    expect(kept()).toContain(world.refreshTokens.at(-1))
    expect(files()).toHaveLength(1)
    // Another process goes on from there: no refresh token is used twice.
    await toolbox.close()
    toolbox = openToolbox()
    expect(await call()).toEqual(SEEN)
    expect(redactor.text(world.refreshTokens.at(-1)!)).toBe('***')
  })

  test('processes that renew at once wait for each other', async () => {
    await logIn()
    const others = [openToolbox(), openToolbox()]
    const mine = toolbox
    const calls = [mine, ...others].map((each) => {
      toolbox = each
      return call()
    })
    expect(await Promise.all(calls)).toEqual([SEEN, SEEN, SEEN])
    toolbox = mine
    await Promise.all(others.map((each) => each.close()))
    now = 241_000
    expect(await call()).toEqual(SEEN)
  })

  test('a refused refresh token holds the call until the next login, which needs no restart', async () => {
    await logIn()
    await call()
    await world.withdraw(world.refreshTokens.at(-1)!)
    now = 241_000
    const error =
      /^MCP server "crm": The authorization server \S+ gives the client "\S+" no token: invalid_grant, .+\. Run svc mcp login crm\.$/
    expect(await call()).toEqual(held(expect.stringMatching(error)))
    expect((await run('doctor', 'mcp')).stdout).toMatch(/invalid_grant.+Run svc mcp login crm\./s)
    await logIn()
    expect(await call()).toEqual(SEEN)
    expect(files()).toHaveLength(1)
  })

  test('a server that forgets its tokens gets another one, and one that accepts none holds the call', async () => {
    await logIn()
    await call()
    world.accepted.clear()
    expect(await call()).toEqual(SEEN)
    world.mcp.intercept = (_, __, response) => Boolean(response.writeHead(401).end())
    expect(await call()).toEqual(
      held('MCP server "crm" answered 401: It does not accept a token of its login. Run svc mcp login crm.'),
    )
  })

  test('an authorization server that is away is an outage, and loses no login', async () => {
    await logIn()
    world.broken = 503
    expect(await call()).toMatchObject({ at: 'not_sent', code: 'unreachable' })
    world.broken = undefined
    expect(await call()).toEqual(SEEN)
  })

  test('what a person consented to is what the documents say: another scope needs another consent', async () => {
    await logIn()
    expect(await call()).toEqual(SEEN)
    expect(await call({ scope: 'orders:read orders:write' })).toEqual(
      held('MCP server "crm": Nobody has logged in to it. Run svc mcp login crm.'),
    )
  })

  test('a logout ends the use at once, and the refresh token at the authorization server', async () => {
    await logIn()
    await call()
    const token = world.refreshTokens.at(-1)!
    expect(await run('mcp', 'logout')).toMatchObject({ code: 0, stdout: 'logged out of crm\n', stderr: '' })
    expect(world.asked.at(-1)).toBe('POST /token/revocation')
    expect(files()).toEqual([])
    expect(await call()).toEqual(held('MCP server "crm": Nobody has logged in to it. Run svc mcp login crm.'))
    expect(await world.isKnown(token)).toBe(false)
    const { stdout } = await run('mcp', 'logout', '--json')
    expect(JSON.parse(stdout)).toEqual({ server: 'crm', url: world.mcp.url, erased: false, revoked: false })
  })

  test('who says no in the browser has not logged in', async () => {
    const login = await logIn('abort')
    expect([login.code, login.stdout]).toEqual([4, ''])
    expect(login.stderr).toContain(`The authorization server ${world.issuer} gives no consent: access_denied`)
    expect(await call()).toMatchObject({ code: 'secret_missing' })
  })

  test('pages that guess the address of the listener end nothing', async () => {
    const login = going(['mcp', 'login', '--no-open'], { cwd: directory })
    const shown = (): string | undefined => /^ {2}(http\S+)$/m.exec(login.world.stderr())?.[1]
    await waitUntil(() => shown() !== undefined)
    const back = new URL(shown()!).searchParams.get('redirect_uri')!
    expect(back).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    for (const path of ['?code=guess&state=guess', '?error=access_denied', '/../'])
      expect((await fetch(`${back}${path}`)).status).toBe(404)
    expect((await fetch(back, { method: 'POST' })).status).toBe(404)
    await world.browse(shown()!)
    expect(await login.code).toBe(0)
  })

  test('a command keeps the login in place of a file', async () => {
    const command = join(directory, 'keep.mjs')
    writeFileSync(
      command,
      `import { readFileSync, rmSync, writeFileSync } from 'node:fs'
const [verb, name] = process.argv.slice(2)
const file = '${join(directory, 'vault-')}' + name
if (verb === 'store') writeFileSync(file, readFileSync(0))
if (verb === 'erase') rmSync(file)
if (verb === 'get') try { process.stdout.write(readFileSync(file)) } catch {}
`,
    )
    write({}, `mcp_logins: { command: [node, ${command}] }\n`)
    await toolbox.close()
    toolbox = openToolbox({ mcp_logins: { command: ['node', command] } })
    expect(await call()).toMatchObject({ code: 'secret_missing' })
    expect((await logIn()).stdout).toBe(`logged in to crm at ${world.issuer}; kept by node\n`)
    expect(await call()).toEqual(SEEN)
    now = 241_000
    expect(await call()).toEqual(SEEN)
    expect(files()).toEqual([])
    writeFileSync(command, 'console.error("the vault is sealed"); process.exit(3)')
    now = 500_000
    expect(await call()).toEqual({
      at: 'not_sent',
      code: 'unreachable',
      error: 'MCP server "crm": Its login cannot be read: node get exited with 3: the vault is sealed',
    })
  })

  test('a login that others may read, and one that is damaged, are named', async () => {
    await logIn()
    const file = join(directory, '.svc/mcp-logins', files()[0]!)
    chmodSync(file, 0o644)
    expect((await run('doctor', 'permissions')).stdout).toContain(`${file} can be read by others (644)`)
    writeFileSync(file, '{}')
    expect(await call()).toMatchObject({
      error: `MCP server "crm": Its login cannot be read: ${file} is no login of svc`,
    })
    expect((await logIn()).code).toBe(0)
    expect(await call()).toEqual(SEEN)
  })

  test('what cannot be logged in to is said, with what to do', async () => {
    const refused = async (...args: string[]): Promise<readonly string[]> => {
      const { code, stderr } = await run('mcp', ...args)
      return [String(code), ...stderr.trimEnd().split('\n')]
    }
    expect(await refused('login', 'cmr')).toEqual([
      '2',
      'error[usage]: No MCP server "cmr" takes a login.',
      '  fix:  Did you mean crm?',
    ])
    expect(await refused('login', 'crm', '--port', '99999')).toEqual([
      '2',
      'error[usage]: --port takes a number up to 65535, not 99999.',
    ])
    expect(await refused('logni')).toEqual([
      '2',
      "error[usage]: Unknown command 'logni'.",
      '  fix:  did you mean login?',
    ])
    write({ secret: 'without client and issuer' })
    expect(await refused('login')).toEqual([
      '2',
      'error[usage]: No MCP server is found that takes a login: agent.yaml cannot be read.',
      '  fix:  svc lint',
    ])
  })

  test('the hosts of a project have the authorization server to which somebody consented', async () => {
    await logIn()
    const { hostname, port } = new URL(world.issuer)
    const { items } = JSON.parse((await run('explain', '--egress', '--json')).stdout) as { items: object[] }
    expect(items).toContainEqual({ host: hostname, port: Number(port), for: ['tokens of MCP server crm'] })
  })
})
