/** Tools of MCP servers as documents: what is asked, what is started, what a secret becomes, and what an author keeps. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startFakeMcp, type FakeMcp, type FakeTool } from '../fakes/mcp.ts'
import { removeDirectory } from '../remove-directory.ts'
import { svc } from '../cli/recording-io.ts'

const SECRET = 'sk-live-0123456789abcdefghij'

const FIND: FakeTool = {
  name: 'find',
  description: 'Finds an order.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  annotations: { readOnlyHint: true },
  answer: () => ({ content: [] }),
}
const REFUND: FakeTool = { name: 'refund', description: 'Refunds an order.', answer: () => ({ content: [] }) }

/** A server on standard streams that notes that it ran, and which token it got. */
const PROGRAM = `
const fs = require('node:fs')
fs.appendFileSync('started.txt', (process.env.NOTES_TOKEN === undefined ? 'no token' : 'token') + '\\n')
let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }
      : method === 'tools/list' ? { tools: [{ name: 'add_note', inputSchema: { type: 'object' } }] } : undefined
    const answer = result ? { result } : { error: { code: -32601, message: 'no such method' } }
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
  }
})
`

let cwd: string
let fake: FakeMcp
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-import-mcp-'))
  write('svc.config.yaml', 'workspace: tools\n')
  fake = await startFakeMcp('modern', [FIND, REFUND])
})
afterEach(async () => {
  await fake.close()
  removeDirectory(cwd)
})

const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text)
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
const edit = (path: string, from: string, to: string): void => {
  expect(read(path)).toContain(from)
  write(path, read(path).replace(from, to))
}

const servers = (given: Record<string, object>): void =>
  write('.mcp.json', `// of the team\n${JSON.stringify({ mcpServers: given }, null, 2)}\n`)

interface Answer {
  readonly documents: readonly { readonly tool: string; readonly path: string; readonly action: string }[]
  readonly lost: readonly { readonly at: string; readonly what: string; readonly authority: boolean }[]
  readonly questions: readonly { readonly path: string; readonly what: string }[]
  readonly bindings: object
}

async function importMcp(...given: string[]): Promise<Answer & { readonly code: number | undefined }> {
  const { code, stdout, stderr } = await svc(['import', 'mcp', ...given, '--json'], { cwd })
  expect(stderr).toBe('')
  return { code, ...(JSON.parse(stdout) as Answer) }
}

test('the tools of an address are documents of the strictest class, and a hint is a comment', async () => {
  const { code, documents, lost, bindings } = await importMcp(fake.url)
  expect({ code, documents, lost }).toEqual({
    code: 0,
    documents: [
      { tool: 'local.find', source: 'local find', path: 'tools/local/find.yaml', action: 'created' },
      { tool: 'local.refund', source: 'local refund', path: 'tools/local/refund.yaml', action: 'created' },
    ],
    lost: [],
  })
  expect(bindings).toEqual({
    tools: [
      { ref: 'local.find@^1.0.0', mcp: { server: 'local', tool: 'find' } },
      { ref: 'local.refund@^1.0.0', mcp: { server: 'local', tool: 'refund' } },
    ],
    mcp_servers: [{ name: 'local', url: fake.url }],
    secrets: {},
  })
  expect(parse(read('tools/local/find.yaml'))).toEqual({
    apiVersion: 'svc/v1',
    kind: 'Tool',
    metadata: { name: 'find', namespace: 'local', version: '1.0.0' },
    spec: {
      description: 'Finds an order.',
      side_effect_class: 'irreversible_action',
      input_schema: {
        inline: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      },
    },
  })
  expect(read('tools/local/find.yaml')).toContain(
    '# TODO(import): what does a call do? Its server says that it only reads',
  )
  expect(read('tools/local/refund.yaml')).not.toContain('Its server says')
})

test('a program is started by --run alone, once, with the values that its client gives it', async () => {
  write('notes.cjs', PROGRAM)
  servers({ notes: { command: process.execPath, args: ['notes.cjs'], env: { NOTES_TOKEN: SECRET } } })
  const refused = await svc(['import', 'mcp', '.mcp.json'], { cwd })
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('svc starts none by itself: .mcp.json names notes ('),
  ])
  expect(existsSync(join(cwd, 'started.txt'))).toBe(false)
  const { code, documents, lost } = await importMcp('.mcp.json', '--run')
  expect({ code, documents, lost }).toMatchObject({
    code: 3,
    documents: [{ tool: 'notes.add_note', action: 'created' }],
    lost: [{ what: 'the value of NOTES_TOKEN is not written: set NOTES_TOKEN where the server runs', authority: true }],
  })
  expect(read('started.txt')).toBe('token\n')
  expect(parse(read('svc.config.yaml'))).toEqual({
    workspace: 'tools',
    mcp_servers: {
      'https://notes.notes.invalid/mcp': { command: [process.execPath, 'notes.cjs'], env: ['NOTES_TOKEN'] },
    },
  })
})

test('a secret of a header is sent to its server and written nowhere', async () => {
  servers({
    crm: { type: 'http', url: fake.url, headers: { Authorization: `Bearer ${SECRET}` } },
    gone: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
  })
  const { code, lost } = await importMcp('.mcp.json')
  expect({ code, lost }).toMatchObject({
    code: 3,
    lost: [
      { at: 'server "gone"', what: expect.stringContaining('left out: MCP server "gone" does not list its tools') },
      { at: 'server "crm"', what: expect.stringContaining('is not written: set ') },
    ],
  })
  expect(fake.requests.map(({ headers }) => headers['authorization'])).toContain(`Bearer ${SECRET}`)
  const made = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== '.mcp.json' && statSync(join(cwd, path)).isFile())
    .map(read)
  expect(made.join('\n')).not.toContain(SECRET)
})

test('a token for an address is taken from a variable', async () => {
  const unset = await svc(['import', 'mcp', fake.url, '--bearer', 'CRM_TOKEN'], { cwd })
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('CRM_TOKEN')])
  const set = await svc(['import', 'mcp', fake.url, '--bearer', 'CRM_TOKEN', '--json'], {
    cwd,
    env: { CRM_TOKEN: SECRET },
  })
  expect(JSON.parse(set.stdout)).toMatchObject({
    bindings: {
      mcp_servers: [{ name: 'local', url: fake.url, auth: { scheme: 'bearer', secret: 'local_token' } }],
      secrets: { local_token: { fromEnv: 'CRM_TOKEN' } },
    },
  })
})

test('again, what the author wrote stays, and no class becomes looser or text is replaced', async () => {
  await importMcp(fake.url)
  edit(
    'tools/local/find.yaml',
    'side_effect_class: irreversible_action',
    'side_effect_class: read_only # checked by ana',
  )
  edit('tools/local/refund.yaml', 'Refunds an order.', 'Refunds an order, once.')
  fake.tools = [
    { ...FIND, description: 'Finds an order by its number.' },
    { ...REFUND, description: 'Refunds all orders.' },
    { name: 'ship', answer: () => ({}) },
  ]
  const { documents, questions } = await importMcp(fake.url)
  expect(documents.map(({ tool, action }) => `${tool} ${action}`)).toEqual([
    'local.find changed',
    'local.refund unchanged',
    'local.ship created',
  ])
  expect(questions).toEqual([
    {
      path: 'tools/local/refund.yaml',
      what: 'spec.description: the source says "Refunds all orders."; yours stays',
    },
  ])
  expect(read('tools/local/find.yaml')).toContain('side_effect_class: read_only # checked by ana')
  expect(read('tools/local/find.yaml')).toContain('Finds an order by its number.')
})

test('tools whose names differ in case or signs alone are documents of their own, however alike they are', async () => {
  const tools = ['delete', 'Delete', 'de-lete', 'de_lete', 'DE_LETE'].map((name) => ({ name, description: 'Deletes.' }))
  write('crm.json', JSON.stringify({ tools }))
  const importing = ['import', 'mcp', 'crm.json', '--server', 'https://crm.example/mcp']
  const { bindings } = JSON.parse((await svc([...importing, '--json'], { cwd })).stdout) as {
    bindings: { tools: readonly { ref: string; mcp: { tool: string } }[] }
  }
  expect(bindings.tools.map(({ mcp }) => mcp.tool)).toEqual(tools.map(({ name }) => name))
  expect(new Set(bindings.tools.map(({ ref }) => ref)).size).toBe(5)
  expect(readdirSync(join(cwd, 'tools/crm'))).toHaveLength(5)
  write('crm.json', JSON.stringify({ tools: tools.map((each) => ({ ...each, description: 'Deletes for ever.' })) }))
  expect((await svc(importing, { cwd })).stdout).toContain('crm.json: 5 changed as crm.*')
})

test('tools are chosen by name, and what is not chosen is not missed', async () => {
  const listed = await svc(['import', 'mcp', fake.url, '--list'], { cwd })
  expect(listed.stdout).toBe('local  find    Finds an order.\nlocal  refund  Refunds an order.\n')
  await importMcp(fake.url)
  const { documents, questions } = await importMcp(fake.url, '--tool', 'f*')
  expect([documents.map(({ tool }) => tool), questions]).toEqual([['local.find'], []])
  fake.tools = [FIND]
  expect((await importMcp(fake.url)).questions).toEqual([
    {
      path: 'imports/local.mcp.json',
      what: 'tools/local/refund.yaml is no longer in the source; what it became stays',
    },
  ])
})

test('more than a hundred tools are asked for', async () => {
  fake.tools = Array.from({ length: 101 }, (_, at) => ({ ...REFUND, name: `tool_${at}` }))
  const { code, stderr } = await svc(['import', 'mcp', fake.url], { cwd })
  expect([code, stderr]).toEqual([2, expect.stringContaining('101 tools are selected.')])
  expect((await importMcp(fake.url, '--all')).documents).toHaveLength(101)
})

test.each([
  ['{"name": "x"}', 'odd.json names no MCP servers'],
  ['{"mcpServers": {}}', 'No server of odd.json is selected.'],
  ['{"mcpServers": {}, "mcpServers": {"a": {}}}', '`mcpServers` more than once'],
  ['{"mcpServers": {"a": ', 'odd.json is no JSON'],
  ['{"tools": []}', 'No tool of odd.json is selected.'],
  [`{"mcpServers": ${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, 'odd.json is '],
])('%s is refused in a sentence', async (text, sentence) => {
  write('odd.json', text)
  const { code, stdout, stderr } = await svc(['import', 'mcp', 'odd.json'], { cwd })
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
})

test.each(['npx notes', 7, null, ['npx']])(
  'an entry that is %j, no mapping, is named among what is lost',
  async (entry) => {
    write('.mcp.json', JSON.stringify({ mcpServers: { notes: entry, local: { url: fake.url } } }))
    expect((await importMcp('.mcp.json')).lost).toContainEqual(
      expect.objectContaining({
        at: 'server "notes"',
        what: expect.stringContaining('neither an address nor a program'),
      }),
    )
  },
)

test('a file longer than any list of tools is refused before it is parsed', async () => {
  write('long.json', `{"tools": [{"name": "t", "description": "${'d'.repeat(11 * 1024 * 1024)}"}]}`)
  const { code, stderr } = await svc(['import', 'mcp', 'long.json'], { cwd })
  expect([code, stderr]).toEqual([2, 'error[usage]: long.json is longer than 10485760 characters.\n'])
})
