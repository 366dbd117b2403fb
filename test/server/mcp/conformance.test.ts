/**
 * The protocol's own tests of servers against an agent's tools. They know no authorization, so a proxy adds the key.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { execute } from '../../api/tools/installed.ts'
import { CONFORMANCE, conformanceRuntime, isConformanceInstalled } from './conformance-suite.ts'
import { closing, running, scripted, tool } from '../running.ts'

/** Scenarios of what the endpoint offers. */
const PASSED = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'json-schema-2020-12',
]

/** Why the endpoint does not pass the others, by what they ask for. */
const NOT_PASSED: Readonly<Record<string, readonly string[]>> = {
  'an agent is a set of tools: it offers neither resources, prompts, completions nor a log': [
    'logging-set-level',
    'completion-complete',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'the double of a tool answers JSON alone, no media': [
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
  ],
  'no session and no stream outlasts its request, so any process answers any request': [
    'server-sse-polling',
    'server-sse-multiple-streams',
  ],
  'what a tool reports while it works is in the timeline of its run, and is not passed on to the client': [
    'tools-call-with-logging',
    'tools-call-with-progress',
  ],
  'the client is never asked for a decision or a completion in the middle of a call': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  'a page of no site reaches the API unless network.origins names it; the scenario is for servers without keys': [
    'dns-rebinding-protection',
  ],
}

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

async function serveWithoutKey(): Promise<string> {
  const reads = { sideEffectClass: 'read_only' } as const
  const { server, secret, agentId } = await running({
    snapshot: scripted(
      [],
      [
        tool('acme.test_simple_text', reads),
        tool('acme.test_error_handling', reads),
        tool('acme.json_schema_2020_12_tool', { ...reads, inputSchema: SCHEMA, inputSchemas: [SCHEMA] }),
      ],
      { model: { provider: 'external', name: 'client' } },
    ),
    config: {
      tools: {
        'acme.test_simple_text': { mock: [{ result: 'This is a simple text response for testing.' }] },
        'acme.test_error_handling': { mock: [{ error: 'This tool intentionally returns an error for testing' }] },
        'acme.json_schema_2020_12_tool': { mock: [{ result: {} }] },
      },
    },
  })
  const pass = (from: IncomingMessage, to: ServerResponse): void => {
    const headers = { ...from.headers, authorization: `Bearer ${secret}` }
    const sent = request(`${server.url}/mcp/${agentId}`, { method: from.method!, headers }, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(to)
    })
    sent.on('error', () => to.destroy())
    from.pipe(sent)
  }
  const proxy = createServer(pass)
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  closing(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`
}

describe.skipIf(!isConformanceInstalled)('with npm ci --prefix test/server/mcp/conformance --ignore-scripts', () => {
  test('each scenario passes, or is listed with the reason', async () => {
    const { output } = await execute(conformanceRuntime!, [CONFORMANCE, 'list', '--server'], { cwd: tmpdir() })
    const all = [...output.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name!)
    expect(all.toSorted()).toEqual([...PASSED, ...Object.values(NOT_PASSED).flat()].toSorted())
  })

  test('what the endpoint offers passes', async () => {
    const url = await serveWithoutKey()
    const tryScenario = (name: string) =>
      execute(conformanceRuntime!, [CONFORMANCE, 'server', '--url', url, '--scenario', name], { cwd: tmpdir() })
    for (const scenario of PASSED) {
      const { status, output } = await tryScenario(scenario)
      expect(status, `${scenario}\n${output}`).toBe(0)
    }
    // Negative control: the program says by its status what did not pass.
    expect((await tryScenario('tools-call-image')).status).not.toBe(0)
  })
})
