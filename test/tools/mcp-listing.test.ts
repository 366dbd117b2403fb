import { afterEach, describe, expect, test } from 'vitest'
import { createTransport } from '../../src/base/net/transport.ts'
import { digestOfTool, type ToolListing } from '../../src/tools/mcp/listed-tool.ts'
import { listMcpTools } from '../../src/tools/mcp/mcp-listing.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { startFakeMcp, type Era, type FakeMcp, type FakeTool } from '../fakes/mcp.ts'

const TOKEN = 'wsk-7f1c9e20ab'
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }

let fake: FakeMcp
afterEach(() => fake.close())

const list = (env: Readonly<Record<string, string>> = { WEB_TOKEN: TOKEN }): Promise<ToolListing> =>
  listMcpTools(
    { id: 'acme.desk', secrets: { web: { fromEnv: 'WEB_TOKEN' } } },
    { name: 'web', url: fake.url, auth: { scheme: 'bearer', secret: 'web' } },
    { env, fetch: createTransport({ keepAlive: false }), version: '0', redactor: createRedactor(), timeoutMs: 10_000 },
  )

describe.each<Era>(['modern', 'stateless', 'sessions'])('a server of the kind %s', (era) => {
  test('lists its tools to one who has the secret, with what it says a call does', async () => {
    fake = await startFakeMcp(era, [
      {
        name: 'search',
        description: 'Searches.',
        inputSchema,
        annotations: { readOnlyHint: false, destructiveHint: true },
        answer: () => ({}),
      },
    ])
    expect(await list()).toEqual({
      tools: new Map([
        ['search', { name: 'search', description: 'Searches.', inputSchema, readOnly: false, destructive: true }],
      ]),
      faults: [],
    })
    expect(fake.requests.find(({ rpc }) => rpc === 'tools/list')?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })
})

test('a secret that is not set is the problem, and nobody is asked', async () => {
  fake = await startFakeMcp('modern', [])
  expect(await list({})).toEqual({
    problem: 'The secret "web" is not set: the environment variable WEB_TOKEN is missing or empty.',
  })
  expect(fake.requests).toEqual([])
})

test.each([
  [403, 'Ask ops.\n', 'MCP server "web" answers 403: Ask ops.'],
  [404, '', 'MCP server "web" answers 404 and says nothing more.'],
  [503, `<p>${'x'.repeat(600)}`, `MCP server "web" answers 503: <p>${'x'.repeat(297)}…`],
])('an answer with status %d is the problem, with what it says', async (status, body, problem) => {
  fake = await startFakeMcp('modern', [])
  fake.intercept = (_, __, response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
    return true
  }
  expect(await list()).toEqual({ problem })
})

test('a server that repeats what it was sent does not bring the secret into the problem', async () => {
  fake = await startFakeMcp('modern', [])
  fake.intercept = (_, { headers }, response) => {
    response.writeHead(401, { 'content-type': 'text/plain' }).end(`who is ${headers.authorization}?`)
    return true
  }
  const listing = await list()
  expect(listing).toEqual({
    problem: 'MCP server "web" answers 401: It does not accept the secret "web" (environment variable WEB_TOKEN).',
  })
  expect(JSON.stringify(listing)).not.toContain(TOKEN)
})

describe.each<Era>(['modern', 'stateless', 'sessions'])('a page of tools of a server of the kind %s', (era) => {
  const toolsOf = (bytes: number): FakeTool[] =>
    Array.from({ length: 8 }, (_, n) => ({
      name: `tool_${n}`,
      description: 'x'.repeat(bytes / 8),
      answer: () => ({}),
    }))

  test('is read up to 512 KiB', async () => {
    fake = await startFakeMcp(era, toolsOf(508 * 1024))
    const listing = await list()
    expect('tools' in listing && listing.tools.size).toBe(8)
  })

  test('is cut where it is larger, and the tools before the cut are kept', async () => {
    fake = await startFakeMcp(era, toolsOf(512 * 1024))
    const listing = await list()
    expect('tools' in listing && { names: [...listing.tools.keys()], faults: listing.faults }).toEqual({
      names: Array.from({ length: 7 }, (_, n) => `tool_${n}`),
      faults: [{ problem: 'Its list of tools is longer than 524288 bytes; svc reads the first 7 tools.' }],
    })
  })
})

test('the digest is of name, description and schema, in whatever order the schema has its keys', () => {
  const tool = { name: 'search', description: 'Searches.', inputSchema }
  const turned = { properties: inputSchema.properties, type: 'object' }
  expect(digestOfTool({ ...tool, inputSchema: turned, destructive: true })).toBe(digestOfTool(tool))
  for (const other of [{ name: 'find' }, { description: 'Finds.' }, { inputSchema: { type: 'object' } }])
    expect(digestOfTool({ ...tool, ...other })).not.toBe(digestOfTool(tool))
})
