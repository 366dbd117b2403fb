/** Commands that look at runs, through the binary. Source: docs/design/command-line.md#driving */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  copyExample,
  deploy,
  dev,
  serveHere,
  svc,
  svcJson,
  writeProject,
  type Project,
  type RunningServer,
} from './binary.ts'
import { waitUntil } from '../wait-until.ts'

let project: Project
let server: RunningServer
let at: { cwd: string }

beforeAll(async () => {
  project = copyExample('refund')
  at = { cwd: project.directory }
  server = await serveHere(['bundle.yaml', '--data', project.data], at)
  await svc(['triggers', 'create', 'acme.refund-desk', '--type', 'api', '--data', project.data], at)
  const ran = await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=40', '--data', project.data], at)
  expect([ran.code, ran.stdout]).toEqual([0, '{"refunded":40,"currency":"EUR"}\n'])
})

afterAll(async () => {
  await server.stop()
  project.remove()
})

test('a conversation is kept as Markdown and as a page of HTML', async () => {
  const conversation = ['runs', 'conversation', '@last', '--data', project.data]
  const markdown = await svc([...conversation, '--markdown'], at)
  expect(markdown.stdout).toMatch(/^# acme\.refund-desk@1\.0\.0\n\n- status: Completed\n[^]*## \d+ · SessionCompleted/)
  const file = join(project.directory, 'run.html')
  expect(await svc([...conversation, '--html', file], at)).toMatchObject({ code: 0, stdout: '' })
  expect(readFileSync(file, 'utf8')).toContain('<h1>acme.refund-desk@1.0.0</h1>')
})

test('events are posted to an address, again where it had trouble, in their order', async () => {
  const subjects: string[] = []
  let refusals = 1
  const hooks = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      response.statusCode = refusals-- > 0 ? 503 : 204
      if (response.statusCode === 204) subjects.push((JSON.parse(body) as { subject: string }).subject)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(hooks, 'listening')
  const address = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/hooks`
  const forward = ['stream', '@last', '--kind', 'session', '--forward-to', address, '--data', project.data]
  const ran = await svc(forward, at)
  hooks.close()
  expect([ran.code, ran.stdout]).toEqual([0, ''])
  expect(subjects).toEqual(['engine.session.started', 'engine.session.completed'])
  expect(
    ran.stderr
      .replaceAll(/in \d+ ms/g, 'in N ms')
      .trimEnd()
      .split('\n'),
  ).toEqual([
    'engine.session.started → 503 in N ms',
    'engine.session.started → 204 in N ms',
    'engine.session.completed → 204 in N ms',
  ])
})

test('where nobody watches, one request waits for the run, and no stream is read', async () => {
  const unwatched = async (amount: string) => {
    const start = [
      'run',
      'acme.refund-desk',
      `order=A-${amount.replaceAll(/\D/g, '')}`,
      amount,
      '--show',
      'none',
      '--debug',
    ]
    const { code, stdout, stderr } = await svc([...start, '--data', project.data], at)
    const asked = [...stderr.matchAll(/(GET|POST) \S*?\/v1\/(\S+)/g)].map(([, method, path]) => `${method} ${path}`)
    return {
      code,
      stdout,
      asked: asked.map((each) => each.replaceAll(/[0-9a-f-]{36}/g, 'ID').replace(/^(\S+ \S*?)[?:,].*/, '$1')),
    }
  }
  const done = await unwatched('amount:=40')
  expect([done.code, done.stdout]).toEqual([0, '{"refunded":40,"currency":"EUR"}\n'])
  expect(done.asked).toEqual(['POST agents/ID/runs', 'GET runs/ID'])
  const paused = await unwatched('amount:=180')
  expect([paused.code, paused.stdout]).toEqual([3, ''])
  expect(paused.asked.filter((each) => each.endsWith('/stream'))).toEqual([])
  await svc(['runs', 'cancel', '@last', '--data', project.data], at)
})

test('a recorded decision is headed by what was asked about: a task, or a run, and the tool', async () => {
  const asked = await svc(['run', 'acme.refund-desk', 'order=A-1043', 'amount:=180', '--data', project.data], at)
  expect(asked.code).toBe(3)
  const [task, run] = await Promise.all([
    svc(['policy', 'explain', '@waiting', '--data', project.data], at),
    svc(['policy', 'explain', '@last', '--data', project.data], at),
  ])
  expect(task.stdout).toMatch(/^(?:task|run) [0-9a-f]{6} · acme\.refunds · recorded \d\d:\d\d:\d\d\n/m)
  expect(run.stdout).toMatch(/^run [0-9a-f]{6} · acme\.orders\.lookup · recorded/)
  const { items } = await svcJson<{ items: { userTaskId: string }[] }>(['inbox', '--data', project.data], at)
  const named = await svc(['policy', 'explain', items[0]!.userTaskId, '--data', project.data], at)
  expect(named.stdout).toMatch(new RegExp(`^task ${items[0]!.userTaskId.slice(-6)} · acme\\.refunds · recorded`))
  await svc(['runs', 'cancel', '@last', '--data', project.data], at)
})

test('what is no address is told before anything is asked', async () => {
  const ran = await svc(['stream', '@last', '--forward-to', 'here', '--data', project.data], at)
  expect([ran.code, ran.stderr]).toEqual([
    2,
    expect.stringContaining('(unreadable address) is not an http or https address.'),
  ])
})

test('which run to watch is asked on a terminal only', async () => {
  const ran = await svc(['runs', 'watch', '--data', project.data], at)
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('svc runs watch RUN')])
})

test('an output that is not valid is put right by an operator, who must say what it is instead', async () => {
  const counter = writeProject({
    'svc.config.yaml': 'workspace: counter\n',
    'counter.agent.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: counter, namespace: acme, version: 1.0.0 }
spec:
  purpose: Count.
  instructions: { text: Count. }
  model: { provider: scripted, name: counter, provider_options: { script: script.yaml } }
output:
  format: json
  schema: { inline: { type: object, required: [count], properties: { count: { type: integer } } } }
  on_invalid: escalate
`,
    'script.yaml': '- say: about three\n',
  })
  const there = { cwd: counter.directory }
  await deploy(counter, 'acme.counter')
  const serving = await serveHere(['--data', counter.data], there)
  const ran = await svc(['run', 'acme.counter', '--data', counter.data], there)
  expect(ran.code).toBe(3)
  const bare = await svc(['approve', '@waiting', '--data', counter.data], there)
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('--edit TEXT, or --edit @FILE')])
  const wrong = await svc(['approve', '@waiting', '--edit', '{"count":"x"}', '--data', counter.data], there)
  expect([wrong.code, wrong.stderr]).toEqual([6, expect.stringContaining('The output is not valid')])
  const right = await svc(['approve', '@waiting', '--edit', '{"count":3}', '--data', counter.data], there)
  expect(right.code).toBe(0)
  const ended = await svc(['runs', 'get', '@last', '--wait=terminal', '--json', '--data', counter.data], there)
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'Completed', output: { count: 3 } })
  await serving.stop()
  counter.remove()
})

test('a tool that nobody answers for is left alone after as many failures as the project file allows', async () => {
  const watcher = writeProject({
    'svc.config.yaml': `workspace: watcher
tools: { acme.look: { http: { url: 'http://127.0.0.1:1/' } } }
circuit_breaker: { failures: 2, pause: 1h }
`,
    'watcher.agent.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: watcher, namespace: acme, version: 1.0.0, annotations: { svc/on-outage: fail } }
spec:
  purpose: Look.
  instructions: { text: Look. }
  model: { provider: scripted, name: watcher, provider_options: { script: script.yaml } }
  tools: [{ ref: acme.look@^1 }]
`,
    'look.tool.yaml': `apiVersion: svc/v1
kind: Tool
metadata: { name: look, namespace: acme, version: 1.0.0 }
spec: { description: Looks., input_schema: { inline: { type: object } }, side_effect_class: read_only }
`,
    'script.yaml': `- call: { tool: look }
- call: { tool: look }
- call: { tool: look }
- say: '\${results.look.message}'
`,
  })
  const there = { cwd: watcher.directory }
  await deploy(watcher, 'acme.watcher')
  const serving = await serveHere(['--data', watcher.data], there)
  const ran = await svc(['run', 'acme.watcher', '--data', watcher.data], there)
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringMatching(/^acme\.look has failed 2 times in a row and is left alone for 3[56]\d\d s\.\n$/),
  ])
  await serving.stop()
  watcher.remove()
})

test('dev reads .env again, so that a key that was missing counts without a restart', async () => {
  const counter = writeProject({
    'svc.config.yaml': 'workspace: counter\n',
    'counter.agent.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: counter, namespace: acme, version: 1.0.0 }
spec:
  purpose: Count.
  instructions: { text: Count. }
  model: { provider: openai, name: counter }
secrets:
  openai: { fromEnv: COUNTER_KEY }
`,
  })
  const there = { cwd: counter.directory }
  const serving = await dev([], there)
  const start = ['run', 'acme.counter', '--detach', '--json']
  const before = await svc(start, there)
  expect([before.code, before.stderr]).toEqual([2, expect.stringContaining('COUNTER_KEY')])
  const read = once(serving.process.stderr!, 'data')
  writeFileSync(join(counter.directory, '.env'), 'COUNTER_KEY=sk-of-nobody\n')
  expect(String(await read)).toContain('read .env; secrets count from the next call')
  expect(await svc(start, there)).toMatchObject({ code: 0 })
  await svc(['runs', 'cancel', '@last'], there)
  await serving.stop()
  counter.remove()
})

test('dev starts again with changed settings, at the same address and with the same key', async () => {
  const settings = (counted: number): string =>
    `workspace: counter\ntools: { acme.count: { mock: [{ result: { counted: ${counted} } }] } }\n`
  const counter = writeProject({
    'svc.config.yaml': settings(1),
    'tools/count.yaml': `apiVersion: svc/v1
kind: Tool
metadata: { name: count, namespace: acme, version: 1.0.0 }
spec: { side_effect_class: read_only, description: Counts. }
`,
    'script.yaml': "- call: { tool: count }\n- say: '${results.count.counted}'\n",
    'counter.agent.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: counter, namespace: acme, version: 1.0.0 }
spec:
  purpose: Count.
  instructions: { text: Count. }
  model: { provider: scripted, name: counter, provider_options: { script: script.yaml } }
  tools: [{ ref: acme.count@^1.0 }]
`,
  })
  const at = { cwd: counter.directory }
  const serving = await dev([], at)
  const counted = async (): Promise<string> => (await svc(['run', 'acme.counter'], at)).stdout
  const reached = (): unknown => {
    const { url, key } = JSON.parse(readFileSync(join(counter.data, 'server.json'), 'utf8')) as Record<string, unknown>
    return { url, key }
  }
  expect(await counted()).toBe('1\n')
  const before = reached()
  writeFileSync(join(counter.directory, 'svc.config.yaml'), settings(2))
  await waitUntil(() => serving.stdout().match(/"type":"ready"/g)?.length === 2)
  expect([await counted(), reached()]).toEqual(['2\n', before])
  expect(serving.stderr().match(/changed svc.config.yaml; starting again/g)).toHaveLength(1)
  expect(await serving.stop()).toBe(0)
  counter.remove()
})
