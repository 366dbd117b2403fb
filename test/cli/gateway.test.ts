/** `svc gateway`: a client's file leads to svc and back again, whatever was edited or cut off meanwhile. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { cases } from '../cases.ts'
import { removeDirectory } from '../remove-directory.ts'
import { svc } from './recording-io.ts'

const SECRET = 'sk-live-0123456789abcdefghij'

let cwd: string
let fake: FakeMcp
beforeEach(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'svc-gateway-')))
  fake = await startFakeMcp('modern', [
    { name: 'find', description: 'Finds an order.', answer: () => ({ content: [] }) },
    { name: 'refund', description: 'Refunds an order.', answer: () => ({ content: [] }) },
  ])
})
afterEach(async () => {
  await fake.close()
  removeDirectory(cwd)
})

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
const edit = (path: string, from: string, to: string): void => {
  expect(read(path)).toContain(from)
  write(path, read(path).replace(from, to))
}

const run = async (...argv: string[]) => {
  const { code, stdout, stderr } = await svc(['gateway', ...argv], { cwd })
  return { code, stdout, stderr }
}
const wrap = async (file = '.mcp.json', ...more: string[]) => {
  const { code, stdout, stderr } = await run('wrap', file, '--yes', '--json', ...more)
  expect(stderr).toBe('')
  return { code, ...(JSON.parse(stdout) as { agent: string; documents: { path: string; action: string }[] }) }
}
const unwrap = async (file = '.mcp.json') => {
  const { stdout, stderr } = await run('unwrap', file, '--yes', '--json')
  expect(stderr).toBe('')
  return (JSON.parse(stdout) as { state: string }).state
}
const states = async (): Promise<string[]> => {
  const { items } = JSON.parse((await run('status', '--json')).stdout) as { items: { state: string }[] }
  return items.map(({ state }) => state)
}

/** As a person writes it: comments, a mark, odd blanks, entries that svc does not know. */
const claudeFile = (): string => `\ufeff{
  "$schema": "https://example.com/mcp.json", // for editors
  "mcpServers": {
    /* orders */
    "crm": { "type": "http",   "url": "${fake.url}", "headers": { "Authorization": "Bearer ${SECRET}" } },
    "old": { "command": "never", "disabled": true },
  },
  "permissions": { "allow": ["x"] }
}\r\n`

describe('each client', () => {
  const files = (): Record<string, { path: string; text: string; wrapped: object }> => ({
    'Claude Code': {
      path: '.mcp.json',
      text: JSON.stringify({ mcpServers: { crm: { type: 'http', url: fake.url } }, kept: 1 }),
      wrapped: { mcpServers: { svc: { command: 'svc', args: ['mcp', '--tools', 'claude.assistant'] } }, kept: 1 },
    },
    Cursor: {
      path: '.cursor/mcp.json',
      text: JSON.stringify({ mcpServers: { crm: { url: fake.url } } }),
      wrapped: {
        mcpServers: {
          svc: { command: 'svc', args: ['mcp', '--tools', 'cursor.assistant', '-C', '${workspaceFolder}'] },
        },
      },
    },
    'VS Code': {
      path: '.vscode/mcp.json',
      text: JSON.stringify({ inputs: [], servers: { crm: { type: 'http', url: fake.url } } }),
      wrapped: {
        inputs: [],
        servers: { svc: { type: 'stdio', command: 'svc', args: ['mcp', '--tools', 'vscode.assistant'] } },
      },
    },
    OpenCode: {
      path: 'opencode.json',
      text: JSON.stringify({ model: 'x/y', mcp: { crm: { type: 'remote', url: fake.url, enabled: true } } }),
      wrapped: {
        model: 'x/y',
        mcp: { svc: { type: 'local', command: ['svc', 'mcp', '--tools', 'opencode.assistant'], enabled: true } },
      },
    },
  })
  test.each(['Claude Code', 'Cursor', 'VS Code', 'OpenCode'])(
    '%s leads to its agent, and back to the byte',
    async (who) => {
      const { path, text, wrapped } = files()[who]!
      write(path, text)
      expect((await wrap(path)).code).toBe(0)
      expect(JSON.parse(read(path))).toEqual(wrapped)
      expect(await unwrap(path)).toBe('wrapped')
      expect(read(path)).toBe(text)
    },
  )
})

test('what is written lints without an error, binds each tool under a policy, and pins it', async () => {
  write('.mcp.json', claudeFile())
  const { code, agent } = await wrap()
  expect([code, agent]).toEqual([0, 'claude.assistant'])
  expect(parse(read('claude-assistant.yaml'))).toMatchObject({
    secrets: { crm_token: { fromEnv: 'CLAUDE_CRM_TOKEN' } },
    spec: {
      model: { provider: 'external', name: 'assistant' },
      tools: [
        {
          ref: 'claude.crm_find@^1.0.0',
          mcp: { server: 'crm', tool: 'find' },
          policies: [{ ref: 'policies/claude/unclassified.yaml' }],
        },
        { ref: 'claude.crm_refund@^1.0.0' },
      ],
      mcp_servers: [{ name: 'crm', url: fake.url, auth: { scheme: 'bearer', secret: 'crm_token' } }],
    },
  })
  const { diagnostics } = JSON.parse((await svc(['lint', '--json'], { cwd })).stdout) as {
    diagnostics: { rule: string; severity: string }[]
  }
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const { mcp } = JSON.parse(read('svc.lock')) as { mcp: { tool: string }[] }
  expect(mcp).toHaveLength(2)
})

test('secrets go to .env and the kept original alone, which only their owner reads', async () => {
  write('.mcp.json', claudeFile())
  const shown = await run('wrap', '.mcp.json', '--yes')
  expect(shown.stdout + shown.stderr).not.toContain(SECRET)
  expect(shown.stdout).toContain('copies the values of CLAUDE_CRM_TOKEN to .env, which git ignores')
  const holders = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(cwd, path)).isFile())
    .filter((path) => /sk-live/.test(read(path)) || read(path).includes(Buffer.from(claudeFile()).toString('base64')))
  expect(holders.map((path) => path.replace(/[0-9a-f]{16}/, 'ID')).toSorted()).toEqual(['.env', '.svc/gateway/ID.json'])
  for (const path of holders) expect(statSync(join(cwd, path)).mode & 0o077).toBe(0)
})

test('the change is shown and asked for; a refusal writes nothing', async () => {
  write('.mcp.json', claudeFile())
  const { code, stdout, stderr } = await run('wrap', '.mcp.json')
  expect(stdout).toBe(
    `mcpServers:
- crm  ${new URL(fake.url).origin}  2 tools, through svc
  old  never                   stays: turned off
+ svc  svc                     svc mcp --tools claude.assistant
writes claude.assistant with 2 tools and a policy that asks before each, svc.config.yaml, and svc.lock
copies the values of CLAUDE_CRM_TOKEN to .env, which git ignores
keeps the original in .svc/gateway
`
      .replace(/never +stays/, () => `never${' '.repeat(new URL(fake.url).origin.length - 5)}  stays`)
      .replace(/svc +svc mcp/, () => `svc${' '.repeat(new URL(fake.url).origin.length - 3)}  svc mcp`),
  )
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('Add --yes.')])
  expect([read('.mcp.json'), readdirSync(cwd)]).toEqual([claudeFile(), ['.mcp.json']])
})

test('a second wrap changes nothing, and one after a new server adds its tools', async () => {
  write('.mcp.json', claudeFile())
  await wrap()
  const before = read('.mcp.json')
  const again = await wrap()
  expect(again.documents.filter(({ action }) => action !== 'unchanged')).toEqual([])
  expect(read('.mcp.json')).toBe(before)
  edit('.mcp.json', '    "old"', `    "more": { "url": "${fake.url}?more" },\n    "old"`)
  expect(await states()).toEqual(['edited'])
  expect((await wrap()).documents.filter(({ action }) => action === 'created')).toHaveLength(2)
  expect(
    Object.keys(
      (JSON.parse(read('.mcp.json').replace(/^\ufeff|\/\/ for editors|,\s*(?=\})/g, '')) as { mcpServers: object })
        .mcpServers,
    ),
  ).toEqual(['svc', 'old'])
  await unwrap()
  expect(read('.mcp.json')).toBe(
    claudeFile().replace('"disabled": true },', `"disabled": true },\n    "more": { "url": "${fake.url}?more" },`),
  )
})

test('edits since stay when the file is restored', async () => {
  write('.mcp.json', claudeFile())
  await wrap()
  edit('.mcp.json', '"allow": ["x"]', '"allow": ["x", "y"]')
  edit('.mcp.json', '"command": "never"', '"command": "ever"')
  expect(await unwrap()).toBe('edited')
  expect(read('.mcp.json')).toBe(claudeFile().replace('["x"]', '["x", "y"]').replace('never', 'ever'))
  expect(await states()).toEqual([])
})

test('an edit that contradicts the original is named, and nothing is lost', async () => {
  write('.mcp.json', claudeFile())
  await wrap()
  edit('.mcp.json', '    "old"', '    "crm": { "url": "https://elsewhere.example" },\n    "old"')
  const now = read('.mcp.json')
  const { code, stderr } = await run('unwrap', '.mcp.json', '--yes')
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    'error[usage]: .mcp.json has a server "crm" again, and it is not the one from which svc took the name.',
  ])
  expect([read('.mcp.json'), await states()]).toEqual([now, ['unreadable']])
})

test('a file that is broken since is named, and its original stays kept', async () => {
  write('.mcp.json', claudeFile())
  await wrap()
  write('.mcp.json', '{ "mcpServers": ')
  const { code, stderr } = await run('unwrap', '.mcp.json', '--yes')
  expect([code, stderr]).toEqual([2, expect.stringContaining('.mcp.json is no JSON')])
  expect(await states()).toEqual(['unreadable'])
})

test('cut off before the client is rewritten, it is as it was, and the next wrap goes on', async () => {
  write('.mcp.json', claudeFile())
  await wrap()
  // The original and the documents are written, and the client's file is not.
  write('.mcp.json', claudeFile())
  expect(await states()).toEqual(['plain'])
  expect((await wrap()).documents.filter(({ action }) => action !== 'unchanged')).toEqual([])
  expect(await states()).toEqual(['wrapped'])
  expect(await unwrap()).toBe('wrapped')
  expect(read('.mcp.json')).toBe(claudeFile())
})

test('a server that does not list its tools stays before the client, and that ends with 3', async () => {
  write(
    '.mcp.json',
    JSON.stringify({ mcpServers: { crm: { url: fake.url }, gone: { url: 'http://127.0.0.1:9/mcp' } } }),
  )
  const { code } = await wrap()
  expect([code, Object.keys((JSON.parse(read('.mcp.json')) as { mcpServers: object }).mcpServers)]).toEqual([
    3,
    ['svc', 'gone'],
  ])
})

test('a program is not started without --run', async () => {
  write('.mcp.json', JSON.stringify({ mcpServers: { notes: { command: 'touch', args: ['started'] } } }))
  const { code, stderr } = await run('wrap', '.mcp.json', '--yes')
  expect([code, stderr]).toEqual([2, expect.stringContaining('svc starts none by itself')])
  expect(existsSync(join(cwd, 'started'))).toBe(false)
})

test('two clients of a project have namespaces of their own', async () => {
  write('.mcp.json', JSON.stringify({ mcpServers: { crm: { url: fake.url } } }))
  write('other/.mcp.json', JSON.stringify({ mcpServers: { crm: { url: fake.url } } }))
  await wrap()
  const { code, stderr } = await run('wrap', 'other/.mcp.json', '--yes')
  expect([code, stderr]).toEqual([2, expect.stringContaining('--namespace NAME')])
  expect((await wrap('other/.mcp.json', '--namespace', 'other')).agent).toBe('other.assistant')
})

test('the address of a running server needs its key, as the client names variables', async () => {
  write('opencode.json', JSON.stringify({ mcp: { crm: { type: 'remote', url: fake.url } } }))
  await wrap('opencode.json', '--url', 'https://svc.example/')
  expect(JSON.parse(read('opencode.json'))).toEqual({
    mcp: {
      svc: {
        type: 'remote',
        url: 'https://svc.example/mcp/opencode.assistant',
        headers: { Authorization: 'Bearer {env:SVC_API_KEY}' },
        enabled: true,
      },
    },
  })
})

test('whatever the file is, unwrap gives it back to the byte', async () => {
  const blank = fc.stringMatching(/^(?: |\n|\t|\/\*[a-z ]{0,5}\*\/|\/\/[a-z{}",]{0,6}\n){0,3}$/)
  const member = fc.tuple(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(member, { maxLength: 3 }),
      fc.array(blank, { minLength: 12, maxLength: 12 }),
      async (others, blanks) => {
        const names = new Set(['mcpServers', 'servers', 'mcp'])
        const rest = others
          .filter(([name]) => !names.has(name) && names.add(name))
          .map(([name, value], at) => `,${blanks[at]}${JSON.stringify(name)}:${blanks[at + 3]}${JSON.stringify(value)}`)
        const entry = `"crm":${blanks[6]}{"url":${JSON.stringify(fake.url)}${blanks[7]}}`
        const text = `${blanks[8]}{${blanks[9]}"mcpServers":{${blanks[10]}${entry}}${rest.join('')}${blanks[11]}}\n`
        write('.mcp.json', text)
        await wrap()
        expect(await unwrap()).toBe('wrapped')
        expect(read('.mcp.json')).toBe(text)
      },
    ),
    { numRuns: cases(8) },
  )
})
