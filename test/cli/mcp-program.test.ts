/** What commands say of an MCP server that the project file runs as a program. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'
import { svc } from './recording-io.ts'

const PROGRAM = resolve(import.meta.dirname, '../tools/programs/mcp.mjs')
const TOKEN = 'token-of-the-test'
const run = (...args: string[]) =>
  svc(args, { cwd: directory, env: { PATH: process.env['PATH'] ?? '', TOKEN_OF_TEST: TOKEN } })

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  onTestFinished(() => removeDirectory(directory))
  writeFileSync(
    join(directory, 'agent.yaml'),
    `apiVersion: svc/v1
kind: Agent
metadata: { namespace: acme, name: desk, version: 1.0.0 }
spec:
  purpose: Echoes.
  instructions: { text: Echo. }
  model: { provider: scripted, name: m }
  tools:
    - { ref: acme.echo@^1, side_effect_class: read_only, mcp: { server: local } }
  mcp_servers:
    - { name: local, url: https://local.invalid/mcp }
`,
  )
})
const writeConfig = (mode: string): void =>
  writeFileSync(
    join(directory, 'svc.config.yaml'),
    `workspace: acme
providers: { scripted: { type: scripted } }
mcp_servers:
  https://local.invalid/mcp: { command: [node, ${JSON.stringify(PROGRAM)}, ${mode}], env: [TOKEN_OF_TEST] }
`,
  )

test('svc doctor mcp starts a program that works', async () => {
  writeConfig('good')
  expect(await run('doctor', 'mcp')).toMatchObject({ code: 0 })
})

test.each([
  [
    'no-server',
    'MCP server "local" does not list its tools: node ended with exit code 2: Usage: give me a token, not ***',
  ],
  ['refuses', 'MCP server "local" does not list its tools: Not with ***.'],
  ['lists its secret', 'Tool "***" is left out: its inputSchema is no object.'],
])('what a program says that is %s is shown without its secret', async (mode, shown) => {
  writeConfig(mode)
  const outputs = []
  for (const command of [
    ['doctor', 'mcp'],
    ['lint', '--mcp-live'],
    ['compile', '--mcp'],
  ])
    outputs.push(await run(...command))
  const text = JSON.stringify(outputs.map(({ stdout, stderr }) => stdout + stderr))
  expect(text).toContain(JSON.stringify(shown).slice(1, -1))
  expect(text).not.toContain(TOKEN)
})

test('svc compile --mcp pins its tools, and no host is reached', async () => {
  writeConfig('good')
  expect(await run('compile', '--mcp')).toMatchObject({ code: 0 })
  expect(await run('lint', '--mcp-live')).toMatchObject({ code: 0 })
  expect((await run('explain', '--egress', '--json')).stdout).not.toContain('local.invalid')
})
