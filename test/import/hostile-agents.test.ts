/** Sources of agents that would leave their folder, fill the memory, hide what they say, or have secrets written. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { AGENT_FORMATS } from '../../src/import/formats/agent-formats.ts'
import { cases } from '../cases.ts'
import { svc, type Ran } from '../cli/recording-io.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-hostile-'))
  write('svc.config.yaml', 'workspace: hostile\n')
})

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}

/** Everything that an import wrote and printed. */
function madeOf(ran: Ran): string {
  const texts = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^source(?:\/|\.yaml$|$)/.test(path) && statSync(join(cwd, path)).isFile())
    .map((path) => readFileSync(join(cwd, path), 'utf8'))
  return [ran.stdout, ran.stderr, ...texts].join('\n')
}

const agentWith = (fields: string, body = 'You help.'): string => `---\nname: helper\n${fields}\n---\n${body}\n`

interface HostileFormat {
  readonly source: string
  /** Files of a source that has a secret at each place where this format has values. */
  readonly withSecret: (secret: string) => Readonly<Record<string, string>>
  /** A source whose text is `text`. */
  readonly withInstructions: (text: string) => Readonly<Record<string, string>>
}

const FORMATS: Readonly<Record<string, HostileFormat>> = {
  claude: {
    source: 'source',
    withSecret: (secret) => ({
      'source/.mcp.json': JSON.stringify({
        mcpServers: {
          web: {
            url: `https://user:${secret}@web.example/mcp?api_key=${secret}`,
            headers: { Authorization: `Bearer ${secret}`, 'X-Api-Key': secret },
          },
          program: { command: 'npx', args: ['serve', '--token', secret], env: { KEY: secret } },
          assigned: { command: 'npx', args: ['serve', `--api-key=${secret}`], env: { MODE: secret } },
          header: { command: 'npx', args: ['-y', 'bridge', '--header', `Authorization: Bearer ${secret}`] },
        },
      }),
      'source/.claude/settings.json': JSON.stringify({ env: { TOKEN: secret } }),
      'source/.claude/agents/helper.md': agentWith(
        `tools: mcp__web__a, mcp__program__b, mcp__assigned__c, mcp__header__d\ndescription: Helps, by token=${secret}.`,
        `You help. Use api_key=${secret} to do so.`,
      ),
    }),
    withInstructions: (text) => ({ 'source/.claude/agents/helper.md': agentWith('description: Helps.', text) }),
  },
  'docker-agent': {
    source: 'source.yaml',
    withSecret: (secret) => ({
      'source.yaml': JSON.stringify({
        models: {
          own: { provider: 'openai', model: 'm', base_url: `https://user:${secret}@llm.example/v1`, token_key: secret },
          next: { provider: 'openai', model: 'm', base_url: `https://llm.example/v1?key=${secret}` },
          other: { provider: 'openai', model: 'm', base_url: 'https://llm.example/v1', token_key: secret },
          keyed: { provider: 'anthropic', model: 'm', token_key: `sk-${secret}` },
        },
        agents: {
          root: {
            model: 'own',
            instruction: `You help. Use api_key=${secret} to do so.`,
            sub_agents: ['next', 'keyed', 'other'],
          },
          other: { model: 'other', description: `Helps, by token=${secret}.`, instruction: 'You help.' },
          next: {
            model: 'next',
            instruction: 'You help.',
            toolsets: [
              {
                type: 'mcp',
                remote: {
                  url: `https://a:${secret}@a.example/mcp?token=${secret}`,
                  headers: { 'X-Api-Key': secret, Authorization: `Bearer ${secret}` },
                },
                tools: ['a'],
              },
              { type: 'mcp', command: 'npx', args: ['b', '--token', secret], env: { KEY: secret }, tools: ['b'] },
              { type: 'mcp', command: 'npx', args: ['c'], env: { KEY: secret }, tools: ['c'] },
            ],
          },
          keyed: {
            model: 'keyed',
            instruction: 'You help.',
            toolsets: [
              { type: 'script', shell: { d: { cmd: `curl -H 'x: ${secret}'`, env: { KEY: secret } } } },
              {
                type: 'api',
                api_config: { name: 'e', endpoint: `https://e.example/?key=${secret}`, headers: { key: secret } },
              },
              { type: 'openapi', url: `https://f.example/?key=${secret}`, headers: { key: secret } },
            ],
          },
        },
      }),
    }),
    withInstructions: (text) => ({ 'source.yaml': JSON.stringify({ agents: { root: { instruction: text } } }) }),
  },
  'agent-spec': {
    source: 'source.yaml',
    withSecret: (secret) => ({
      'source.yaml': JSON.stringify({
        component_type: 'Agent',
        id: 'a',
        name: 'a',
        llm_config: {
          component_type: 'OpenAiCompatibleConfig',
          model_id: 'm',
          url: `https://user:${secret}@llm.example/v1?key=${secret}`,
          api_key: secret,
        },
        system_prompt: `You help. Use api_key=${secret} to do so.`,
        tools: [
          {
            component_type: 'RemoteTool',
            name: 'remote',
            description: `Asks, by token=${secret}.`,
            inputs: [{ title: 'of', type: 'string', default: `token=${secret}` }],
            url: `https://user:${secret}@remote.example/?key=${secret}`,
            http_method: 'POST',
            data: secret,
            query_params: { key: secret },
            headers: { key: secret },
            sensitive_headers: { key: secret },
          },
        ],
        toolboxes: ['url', 'header', 'stdio'].map((name) => ({
          component_type: 'MCPToolBox',
          name,
          tool_filter: [name],
          client_transport:
            name === 'stdio'
              ? {
                  component_type: 'StdioTransport',
                  name,
                  command: 'npx',
                  args: ['x', `--token=${secret}`],
                  env: { KEY: secret },
                }
              : {
                  component_type: 'StreamableHTTPTransport',
                  name,
                  url: name === 'url' ? `https://user:${secret}@mcp.example/?key=${secret}` : 'https://mcp.example/',
                  headers: { 'X-Key': secret },
                  sensitive_headers: { Authorization: `Bearer ${secret}` },
                },
        })),
      }),
    }),
    withInstructions: (text) => ({
      'source.yaml': JSON.stringify({ component_type: 'Agent', name: 'a', system_prompt: text }),
    }),
  },
}

test('each format is tried', () => {
  expect(Object.keys(FORMATS)).toEqual(AGENT_FORMATS.map(({ name }) => name))
})

const secrets = fc
  .string({
    unit: fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')),
    minLength: 24,
    maxLength: 40,
  })
  .map((text) => `${text}7Qz`)
  .filter((text) => new Set(text).size > 14)

describe.each(Object.entries(FORMATS))('%s', (format, { source, withSecret, withInstructions }) => {
  const importOf = async (files: Readonly<Record<string, string>>, ...more: string[]): Promise<Ran> => {
    for (const name of readdirSync(cwd))
      if (name !== 'svc.config.yaml') rmSync(join(cwd, name), { recursive: true, force: true })
    for (const [path, text] of Object.entries(files)) write(path, text)
    return await svc(['import', format, source, ...more], { cwd })
  }

  test('no secret of a source is written or printed', async () => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const ran = await importOf(withSecret(secret))
        expect(ran.code).toBe(3)
        expect(madeOf(ran)).not.toContain(secret)
      }),
      { numRuns: cases(100) },
    )
  })

  test('a private key in instructions is masked, and what follows it stays', async () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIICXQIBAAKBgQDrKLO6\nOozBlRph==\n-----END RSA PRIVATE KEY-----'
    const ran = await importOf(withInstructions(`You help.\n${key}\nThen go on.`))
    expect(ran.code).toBe(3)
    const made = madeOf(ran)
    expect(made).toContain(`-----BEGIN RSA PRIVATE KEY-----\n${'*'.repeat(20)}\n${'*'.repeat(10)}\n-----END`)
    expect(made).toContain('Then go on.')
    expect(made).not.toMatch(/MIICX|OozBl/)
  })

  test('instructions stay as they are, but for what nobody sees', async () => {
    const text = 'You help.\n\n    indented: `code`\n\n| a | b |'
    await importOf(withInstructions(text.replace('help', 'he\u200b\u202elp')))
    const [prompt] = readdirSync(join(cwd, 'prompts'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.md'),
    )
    expect(readFileSync(join(cwd, 'prompts', prompt!), 'utf8')).toBe(`${text}\n`)
  })
})

describe('a folder', () => {
  test.each<[string, () => void]>([
    ['a linked agent', () => symlinkSync(join(cwd, 'outside.md'), join(cwd, 'source/.claude/agents/linked.md'))],
    ['a linked folder', () => symlinkSync(join(cwd, 'beyond'), join(cwd, 'source/.claude/agents/linked'))],
    ['a linked skill', () => symlinkSync(join(cwd, 'beyond'), join(cwd, 'source/.claude/skills'))],
    ['linked servers', () => symlinkSync(join(cwd, 'mcp.json'), join(cwd, 'source/.mcp.json'))],
  ])('with %s: what lies outside is not read', async (_, link) => {
    write('outside.md', agentWith('description: Outside.', 'Told outside.'))
    write('beyond/SKILL.md', agentWith('description: Outside.', 'Told outside.'))
    write('beyond/agent.md', agentWith('description: Outside.', 'Told outside.'))
    write('mcp.json', JSON.stringify({ mcpServers: { web: { url: 'https://outside.example/mcp' } } }))
    write('source/.claude/agents/own.md', '---\nname: own\ntools: mcp__web__find\n---\nYou help.\n')
    link()
    const ran = await svc(['import', 'claude', 'source'], { cwd })
    const written = readdirSync(join(cwd, 'prompts'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.md'),
    )
    expect(written).toEqual(['source/own.md'])
    expect(ran.stdout).not.toContain('outside')
    expect(readFileSync(join(cwd, 'agents/source/own.yaml'), 'utf8')).not.toContain('outside')
  })

  test('without links is read: what the cases above do not read is read where it lies inside', async () => {
    write('source/.claude/agents/linked/agent.md', agentWith('description: Inside.', 'Told inside.'))
    await svc(['import', 'claude', 'source'], { cwd })
    expect(readFileSync(join(cwd, 'prompts/source/helper.md'), 'utf8')).toBe('Told inside.\n')
  })

  test('with a name that leads out of it: nothing is written outside', async () => {
    write('source/.claude/agents/a.md', '---\nname: ../../../escape\ndescription: Out.\n---\nYou help.\n')
    await svc(['import', 'claude', 'source'], { cwd })
    expect(readdirSync(join(cwd, 'agents'), { recursive: true })).toEqual(['source', 'source/escape.yaml'])
  })
})

const bomb = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...'bcdefghi'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(', ')}]`),
].join('\n')

test.each([
  ['aliases that repeat each other', bomb, 'agents/a.md: its front matter is larger than 5,000,000 values'],
  ['an alias of what is around it', 'a: &a { b: *a }', 'agents/a.md: its front matter is'],
  ['a list', '- a\n- b', 'agents/a.md: its front matter is no mapping.'],
  [
    'a tag that makes code',
    'a: !!js/function "function () {}"',
    'agents/a.md: its front matter is neither JSON nor YAML',
  ],
  ['more than 64 KiB', `a: ${'x'.repeat(70_000)}`, 'agents/a.md: its front matter is longer than 65536 characters.'],
])('front matter with %s is one sentence, and nothing is written', async (_, fields, what) => {
  write('source/.claude/agents/a.md', `---\n${fields}\n---\nYou help.\n`)
  const ran = await svc(['import', 'claude', 'source'], { cwd })
  expect({ code: ran.code, stdout: ran.stdout, said: ran.stderr.includes(what) || ran.stderr }).toEqual({
    code: 2,
    stdout: '',
    said: true,
  })
  expect(readdirSync(cwd)).toEqual(['source', 'svc.config.yaml'])
})

test('a file of more than 1 MiB is refused by its name', async () => {
  write('source/.claude/agents/a.md', `---\nname: a\n---\n${'x'.repeat(1024 * 1024)}`)
  const ran = await svc(['import', 'claude', 'source'], { cwd })
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toContain('.claude/agents/a.md is larger than 1048576 bytes.')
})

test('two servers of one name are two servers', async () => {
  const mcp = (program: string): object => ({ type: 'mcp', name: 'same', command: program, tools: [program] })
  write(
    'team.yaml',
    JSON.stringify({ agents: { root: { instruction: 'You help.', toolsets: [mcp('one'), mcp('two')] } } }),
  )
  await svc(['import', 'docker-agent', 'team.yaml'], { cwd })
  const config = parse(readFileSync(join(cwd, 'svc.config.yaml'), 'utf8')) as {
    mcp_servers: Record<string, { command: string[] }>
  }
  const { spec } = parse(readFileSync(join(cwd, 'agents/team/root.yaml'), 'utf8')) as {
    spec: { tools: { mcp: { server: string; tool: string } }[]; mcp_servers: { name: string; url: string }[] }
  }
  const programs = spec.tools.map(({ mcp: { server, tool } }) => [
    tool,
    config.mcp_servers[spec.mcp_servers.find(({ name }) => name === server)!.url]!.command,
  ])
  expect(programs).toEqual([
    ['one', ['one']],
    ['two', ['two']],
  ])
})

describe('an Agent Spec configuration', () => {
  const agent = (more: object): object => ({ component_type: 'Agent', name: 'a', system_prompt: 'You help.', ...more })
  test.each<[string, object, string]>([
    [
      'that refers to a component that is not there',
      agent({ llm_config: { $component_ref: 'absent' } }),
      'Agent "a" llm_config refers to the component "absent", which is not there.',
    ],
    [
      'that refers to a file',
      agent({ llm_config: { $component_ref: 'file:///etc/passwd' } }),
      'refers to the component "file:///etc/passwd", which is not there.',
    ],
    [
      'whose component refers to itself',
      agent({ llm_config: { $component_ref: 'a' }, $referenced_components: { a: { $component_ref: 'a' } } }),
      'Agent "a" llm_config refers to itself.',
    ],
    [
      'whose group contains itself',
      {
        component_type: 'ManagerWorkers',
        group_manager: { $component_ref: 'group' },
        workers: [],
        $referenced_components: {
          group: { component_type: 'ManagerWorkers', group_manager: { $component_ref: 'group' }, workers: [] },
        },
      },
      'contains itself, or is nested too deep.',
    ],
    [
      'with two components of one id',
      agent({
        tools: [{ $referenced_components: { a: { name: 'x' } } }],
        $referenced_components: { a: { name: 'y' } },
      }),
      'declares the component "a" twice.',
    ],
    [
      'that is a flow without agents',
      { component_type: 'Flow', name: 'f', nodes: [] },
      'source.yaml is a "Flow" without an agent that can be carried.',
    ],
    ['that is another document', { openapi: '3.1.0' }, 'it has no `component_type`.'],
  ])('%s is one sentence, and nothing is written', async (_, source, what) => {
    write('source.yaml', JSON.stringify(source))
    const ran = await svc(['import', 'agent-spec', 'source.yaml'], { cwd })
    expect({ code: ran.code, stdout: ran.stdout, said: ran.stderr.includes(what) || ran.stderr }).toEqual({
      code: 2,
      stdout: '',
      said: true,
    })
    expect(readdirSync(cwd)).toEqual(['source.yaml', 'svc.config.yaml'])
  })

  test('whose groups share their members at every level is read once', async () => {
    const groups = Array.from({ length: 30 }, (_, at) => [
      `g${at}`,
      {
        component_type: 'ManagerWorkers',
        name: `g${at}`,
        group_manager: agent({ name: `m${at}` }),
        workers: Array.from({ length: 4 }, () => ({ $component_ref: `g${at + 1}` })),
      },
    ])
    const last = ['g30', agent({ name: 'last' })]
    write(
      'source.yaml',
      JSON.stringify({
        component_type: 'ManagerWorkers',
        group_manager: agent({ name: 'first' }),
        workers: [{ $component_ref: 'g0' }],
        $referenced_components: Object.fromEntries([...groups, last]) as object,
      }),
    )
    expect((await svc(['import', 'agent-spec', 'source.yaml', '--list'], { cwd })).stdout.split('\n')).toHaveLength(33)
  })
})

test('names of tools that take long to read are no names', async () => {
  const name = `mcp__${'a__'.repeat(20_000)}`
  write(
    'source/.claude/agents/a.md',
    `---\nname: a\ntools: [${JSON.stringify(`${name}\nb`)}, mcp__web__find]\n---\nYou help.\n`,
  )
  const began = performance.now()
  const { stdout } = await svc(['import', 'claude', 'source', '--json'], { cwd })
  expect(performance.now() - began).toBeLessThan(5000)
  expect((JSON.parse(stdout) as { lost: { what: string }[] }).lost.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^"mcp__a__.*…" is no name of a tool$/),
  )
})
