/** Settings and where they come from: configuration, environment, secrets; and what help and completion know. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { runCommandLine } from '../../src/cli/main.ts'
import { createWorld, svc, temporary, type Ran } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

let cwd: string
let count = 0
beforeEach(() => {
  cwd = join(parent, `project-${++count}`)
  mkdirSync(cwd)
})

const write = (path: string, text: string): void => {
  mkdirSync(join(cwd, path, '..'), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const run = (argv: string[], env: Record<string, string> = {}): Promise<Ran> =>
  svc(argv, { cwd, env: { XDG_CONFIG_HOME: join(cwd, 'user'), ...env } })

describe('config', () => {
  test('a flag comes before the environment, that before the project, that before the user, that before the default', async () => {
    write('svc.config.yaml', '# ours\nworkspace: acme\ndev:\n  port: 5000\n')
    write('user/svc/config.yaml', 'dev:\n  port: 6000\n  host: ::1\n')
    expect(
      await run(['config', 'list', '--origin', '--data', 'd'], { SVC_DATA: 'e', SVC_URL: 'http://a' }),
    ).toMatchObject({
      stdout: [
        `data\t${join(cwd, 'd')}\t--data`,
        `dev.host\t::1\t${join(cwd, 'user/svc/config.yaml')}:3`,
        'dev.port\t5000\tsvc.config.yaml:4',
        'include\t["**/*.{yaml,yml,json}"]\tdefault',
        'lint.profile\trecommended\tdefault',
        'url\thttp://a\tSVC_URL',
        'workspace\tacme\tsvc.config.yaml:2',
        '',
      ].join('\n'),
    })
  })

  test('one setting is printed alone, a group of them together', async () => {
    write('svc.config.yaml', 'workspace: acme\n')
    expect(await run(['config', 'get', 'workspace'])).toMatchObject({ code: 0, stdout: 'acme\n' })
    expect((await run(['config', 'get', 'dev'])).stdout).toBe('dev.host\t127.0.0.1\ndev.port\t4310\n')
    expect(await run(['config', 'get', 'workspce'])).toMatchObject({
      code: 5,
      stderr: 'error[not_found]: No such setting workspce.\n  fix:  Did you mean workspace?\n',
    })
  })

  test('what is set keeps the rest of the file as it was', async () => {
    write('svc.config.yaml', '# ours\nworkspace: acme # the shop\ntools:\n  acme.refunds: { command: [node, r.mjs] }\n')
    await run(['config', 'set', 'dev.port', '4400'])
    await run(['config', 'set', 'tools.acme.refunds.timeout', '10s'])
    await run(['config', 'set', 'tools."acme.orders".command', '[node, o.mjs]'])
    expect(readFileSync(join(cwd, 'svc.config.yaml'), 'utf8')).toBe(
      [
        '# ours',
        'workspace: acme # the shop',
        'tools:',
        '  acme.refunds: {command: [node, r.mjs], timeout: 10s}',
        '  acme.orders:',
        '    command:',
        '      - node',
        '      - o.mjs',
        'dev:',
        '  port: 4400',
        '',
      ].join('\n'),
    )
  })

  test.each([
    [['dev.port', 'soon'], /dev\.port|port/],
    [['dev.prt', '1'], /`prt` is not a key of dev/],
  ])('what would not be valid is not written: %j', async (pair, message) => {
    write('svc.config.yaml', 'workspace: acme\n')
    const { code, stderr } = await run(['config', 'set', ...pair])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(readFileSync(join(cwd, 'svc.config.yaml'), 'utf8')).toBe('workspace: acme\n')
  })

  test('--user writes the configuration of the user', async () => {
    await run(['config', 'set', 'dev.host', 'localhost', '--user'])
    expect(readFileSync(join(cwd, 'user/svc/config.yaml'), 'utf8')).toBe('dev:\n  host: localhost\n')
    expect(await run(['config', 'set', 'dev.host', 'localhost'])).toMatchObject({ code: 2 })
  })
})

const agent = (model: string, more = ''): string => `apiVersion: svc/v1
kind: Agent
metadata: { namespace: acme, name: desk, version: 1.0.0 }
spec:
  instructions: Help.
  model: { provider: ${model}, name: m, secret: main }
  mcp_servers:
    - { name: orders, url: https://orders.example/mcp, auth: { scheme: bearer, secret: orders } }
secrets:
  main: { fromEnv: MODEL_API_KEY }
  orders: { fromEnv: ORDERS_TOKEN }
${more}`

describe('secrets check', () => {
  test('says who needs what and where it comes from, and never a value', async () => {
    write('svc.config.yaml', 'workspace: acme\n')
    write('agent.yaml', agent('anthropic', '  old: { fromEnv: OLD }\n'))
    write('.env', '# tokens\n\nexport ORDERS_TOKEN=swordfish-1234\n')
    const { code, stdout } = await run(['secrets', 'check', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      items: [
        {
          agent: 'acme.desk',
          name: 'main',
          env: 'MODEL_API_KEY',
          state: 'missing',
          source: null,
          usedBy: ['model anthropic'],
        },
        {
          agent: 'acme.desk',
          name: 'orders',
          env: 'ORDERS_TOKEN',
          state: 'ok',
          source: '.env:3',
          usedBy: ['mcp orders'],
          seen: '14 chars, 6a6b',
        },
        { agent: 'acme.desk', name: 'old', env: 'OLD', state: 'missing', source: null, usedBy: [] },
      ],
    })
    expect(stdout).not.toContain('swordfish')
  })

  test('names the variables of a program that runs in place of an MCP server, which needs no other', async () => {
    write(
      'svc.config.yaml',
      'workspace: acme\nmcp_servers:\n  https://orders.example/mcp: { command: [orders-server], env: [ORDERS_KEY] }\n',
    )
    write('agent.yaml', agent('scripted'))
    write('.env', 'ORDERS_KEY=swordfish-1234\n')
    const { stdout } = await run(['secrets', 'check', '--json'])
    const { items } = JSON.parse(stdout) as { items: { env: string; state: string; usedBy: string[] }[] }
    expect(items.map(({ env, state, usedBy }) => [env, state, usedBy])).toEqual([
      ['MODEL_API_KEY', 'missing', []],
      ['ORDERS_TOKEN', 'missing', []],
      ['ORDERS_KEY', 'ok', ['mcp orders']],
    ])
  })

  test.each([
    ['', 'empty'],
    [' key', 'whitespace'],
    ['<your key>', 'placeholder'],
    ['changeme', 'placeholder'],
    ['sk-...', 'placeholder'],
    ['sk-real-enough', 'ok'],
  ])('a value of %j is %s', async (value, state) => {
    write('svc.config.yaml', 'workspace: acme\n')
    write('agent.yaml', agent('openai'))
    const ran = await run(['secrets', 'check', 'acme.desk', '--json'], {
      MODEL_API_KEY: value,
      ORDERS_TOKEN: 'a-token',
    })
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: state === 'ok', items: [{ state, source: 'environment' }, {}] })
    expect(ran.code).toBe(state === 'ok' ? 0 : 1)
  })

  test('the key of a provider in the project file is one, where the agent names none', async () => {
    write(
      'svc.config.yaml',
      'workspace: acme\nproviders: { house: { type: openai-compatible, base_url: "https://house.example/v1", key: { fromEnv: HOUSE_KEY } } }\n',
    )
    write(
      'agent.yaml',
      agent('house')
        .replace(/, secret: main/, '')
        .replace(/^ +main: .*\n/m, ''),
    )
    const [missing, set] = [
      await run(['secrets', 'check', '--json'], { ORDERS_TOKEN: 'a-token' }),
      await run(['secrets', 'check', '--json'], { ORDERS_TOKEN: 'a-token', HOUSE_KEY: 'a-key' }),
    ]
    const house = { agent: 'acme.desk', name: 'providers.house.key', env: 'HOUSE_KEY', usedBy: ['model house'] }
    expect([missing.code, JSON.parse(missing.stdout)]).toMatchObject([
      1,
      { ok: false, items: [{}, { ...house, state: 'missing' }] },
    ])
    expect([set.code, JSON.parse(set.stdout)]).toMatchObject([0, { ok: true, items: [{}, { ...house, state: 'ok' }] }])
  })

  test('a model that is scripted needs none', async () => {
    write('svc.config.yaml', 'workspace: acme\nproviders: { openai: { type: scripted } }\n')
    write('agent.yaml', agent('openai'))
    expect(await run(['secrets', 'check'], { ORDERS_TOKEN: 'a-token' })).toMatchObject({ code: 0 })
  })

  test.each([
    [200, 'ok', 0],
    [401, 'rejected', 1],
    [503, 'unreachable', 1],
  ])('--verify asks the provider; %d means %s', async (status, state, code) => {
    write(
      'svc.config.yaml',
      'workspace: acme\nproviders: { openai: { type: openai, base_url: "http://127.0.0.1:1/v1" } }\n',
    )
    write('agent.yaml', agent('openai'))
    const asked: string[] = []
    const env = { XDG_CONFIG_HOME: join(cwd, 'user'), MODEL_API_KEY: 'sk-real-enough', ORDERS_TOKEN: 'a-token' }
    const fetch = (async (url: string, init: { headers: Record<string, string> }) => {
      asked.push(`${url} ${init.headers['authorization']}`)
      return new Response('{}', { status })
    }) as typeof globalThis.fetch
    const ran = await svc(['secrets', 'check', '--verify', '--json'], { cwd, env, fetch })
    expect(asked).toEqual(['http://127.0.0.1:1/v1/models Bearer sk-real-enough'])
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([code, { items: [{ state }, { state: 'ok' }] }])
  })

  test.each([
    ['gemini', '', 'http://127.0.0.1:1/v1beta/models?pageSize=1', 'x-goog-api-key', 400],
    ['azure-openai', '/openai/v1', 'http://127.0.0.1:1/openai/v1/models', 'api-key', 401],
  ])('--verify asks %s in its own way', async (type, suffix, url, header, status) => {
    write(
      'svc.config.yaml',
      `workspace: acme\nproviders: { openai: { type: ${type}, base_url: "http://127.0.0.1:1${suffix}" } }\n`,
    )
    write('agent.yaml', agent('openai'))
    const asked: string[] = []
    const env = { XDG_CONFIG_HOME: join(cwd, 'user'), MODEL_API_KEY: 'sk-real-enough', ORDERS_TOKEN: 'a-token' }
    const fetch = (async (address: string, init: { headers: Record<string, string> }) => {
      asked.push(`${address} ${init.headers[header]}`)
      return new Response('{}', { status })
    }) as typeof globalThis.fetch
    const ran = await svc(['secrets', 'check', '--verify', '--json'], { cwd, env, fetch })
    expect(asked).toEqual([`${url} sk-real-enough`])
    expect(JSON.parse(ran.stdout)).toMatchObject({ items: [{ state: 'rejected' }, { state: 'ok' }] })
  })
})

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('%s gets a script that asks svc complete', async (shell) => {
    const { code, stdout, stderr } = await run(['completion', shell])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/svc complete '?--/)
  })

  test('an unknown shell gets a list of known ones', async () => {
    expect(await run(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
  })

  test.each([
    [['ke'], 'keys\n:4\n'],
    [['keys', 'cr'], 'create\tmake an API key; its secret is printed once, alone, on stdout\n:4\n'],
    [['init', '--template', 're'], 'refund\nreport\nresearch\n:4\n'],
    [['lint', '--format', 'j'], 'json\njunit\n:4\n'],
    [['lint', '--max-w'], '--max-warnings\texit 1 above this many warnings\n:4\n'],
    [['--data', 'x', 'completion', 'z'], 'zsh\n:4\n'],
    [['lint', ''], ':0\n'],
    [['publish', '--data', ''], ':0\n'],
    [['run', ''], ':4\n'],
    [['nothing', ''], ':4\n'],
  ])('after %j it offers %j', async (words, stdout) => {
    expect(await run(['complete', '--', ...words])).toMatchObject({ code: 0, stdout, stderr: '' })
  })

  test('values are offered behind = too, and the statuses of runs', async () => {
    const offered = async (...words: string[]) => (await run(['complete', '--', ...words])).stdout
    expect(await offered('lint', '--format=ju')).toBe('--format=junit\n:4\n')
    expect(await offered('runs', 'list', '--status=Wa')).toBe(
      '--status=WaitingForHITL\n--status=WaitingForAITL\n--status=WaitingForResponse\n:4\n',
    )
    expect(await offered('runs', 'list', '--status', 'Com')).toBe('Completed\n:4\n')
  })

  test('settings are offered by their keys, those of the file too', async () => {
    write('svc.config.yaml', 'workspace: acme\nproviders: { main: { type: openai } }\n')
    const offered = async (...words: string[]) => (await run(['complete', '--', ...words])).stdout
    expect(await offered('config', 'get', 'dev.po')).toMatch(/^dev\.port(?:\t.+)?\n:4\n$/)
    expect(await offered('config', 'set', 'providers.')).toBe('providers.main.type\n:4\n')
  })

  test('rules are offered with their law', async () => {
    expect((await run(['complete', '--', 'explain', 'tool/unres'])).stdout).toMatch(/^tool\/unresolved\t.+\n:4\n$/)
  })
})

test.each(['authoring', 'environment', 'exit-codes', 'formatting', 'approvals', 'offline', 'files'])(
  'help tells the topic %s',
  async (topic) => {
    const { code, stdout } = await run(['help', topic])
    expect(code).toBe(0)
    expect(stdout.split('\n').length).toBeGreaterThan(6)
    expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([])
  },
)

test.each([
  [['ps', '--help'], 'runs list'],
  [['ls', '--help'], 'runs list'],
  [['watch', '--help'], 'runs watch'],
  [['tail', '--help'], 'runs watch'],
  [['new', '--help'], 'init'],
  [['check', '--help'], 'lint'],
  [['up', '--help'], 'dev'],
  [['tasks', '--help'], 'inbox'],
  [['pack', '--help'], 'bundle pack'],
])('%j is another name', async (argv, path) => {
  const { code, stdout } = await run(argv)
  expect([code, stdout]).toMatchObject([0, expect.stringContaining(`svc ${path}`) as string])
})

test.each([[[]], [['status']]])('svc %j in a project without a server shows how to begin', async (argv) => {
  write('svc.config.yaml', 'workspace: acme\n')
  const { code, stdout } = await svc(argv, { cwd, tty: true })
  expect([code, stdout]).toEqual([
    0,
    'acme · no server\n  svc dev           serve, watch and redeploy\n  svc lint          check the documents\n  svc help --tree   everything\n',
  ])
  expect(existsSync(join(cwd, '.svc'))).toBe(false)
})

test('long answers go to the pager of a terminal, unless nobody wants one', async () => {
  const paged: string[] = []
  const world = createWorld({ cwd, tty: true })
  const io = { ...world.io, page: async (text: string) => void paged.push(text) }
  await runCommandLine(['help', 'exit-codes'], io)
  expect([paged.length, world.stdout()]).toEqual([1, ''])
  await runCommandLine(['help', 'exit-codes', '--no-pager'], io)
  expect([paged.length, world.stdout()]).toEqual([1, paged[0]])
})
