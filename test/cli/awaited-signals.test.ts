/** The signals that a run waits for, in `svc runs get`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { awaitedSignals } from '../../src/cli/runs/awaited-signals.ts'
import { going, svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const call = (runId: string, id: string, ref: string, given: object) => ({
  type: 'ToolCall',
  runId,
  content: { tool_call_id: id, name: 'any', ref, arguments: given },
})

test('the calls without a result are waited for, by run and call', () => {
  const items = [
    call('one', 'a', 'svc.wait_event', { name: 'ended' }),
    { type: 'ToolResult', runId: 'one', content: { tool_call_id: 'a' } },
    call('two', 'a', 'svc.wait_event', { name: 'landed', schema: { type: 'object' } }),
    call('one', 'b', 'svc.wait_until', { after: '2h' }),
    call('one', 'c', 'svc.wait_event', { name: 'paid' }),
    { type: 'ToolCall', runId: 'one', content: null },
  ]
  expect(awaitedSignals(items as unknown as Parameters<typeof awaitedSignals>[0])).toEqual([
    { name: 'landed', schema: { type: 'object' } },
    { name: 'paid' },
  ])
})

test('svc runs get names the signal, its data, and the command that sends it', async () => {
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text)
  mkdirSync(cwd, { recursive: true })
  write('svc.config.yaml', 'workspace: acme\nproviders: { scripted: { type: scripted } }\n')
  write(
    'clerk.yaml',
    `apiVersion: svc/v1
kind: Agent
metadata: { name: clerk, namespace: acme, version: 1.0.0, owner: team, governance: { risk_tier: low } }
spec:
  purpose: Waits.
  instructions: { text: Wait. }
  model: { provider: scripted, name: clerk, provider_options: { script: clerk.script.yaml } }
  tools: [{ ref: svc.wait_event@^1 }]
  limits: { max_tokens_per_run: 20000, max_loop_iterations: 8 }
`,
  )
  write(
    'clerk.script.yaml',
    '- call: { tool: wait_event, arguments: { name: landed, schema: { type: object, required: [at] } } }\n- say: Done.\n',
  )
  expect((await svc(['publish', '--deploy', '--yes'], { cwd })).stderr).not.toContain('error')
  const server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  try {
    const run = (await svc(['run', 'acme.clerk', '--detach'], { cwd })).stdout.trim()
    const read = async (): Promise<string> => (await svc(['runs', 'get', run], { cwd })).stdout
    await expect.poll(read).toContain('\nheld\tsince ')
    expect(await read()).toContain(
      `\nsignal\tlanded, data as {"type":"object","required":["at"]} (svc signal ${run.slice(-6)} landed DATA)\n`,
    )
    expect((await svc(['signal', run, 'landed', '{"at":"Oslo"}'], { cwd })).code).toBe(0)
    await expect.poll(read).toContain('\nstatus\tCompleted\n')
    expect(await read()).not.toContain('signal')
  } finally {
    await server.end()
  }
})
