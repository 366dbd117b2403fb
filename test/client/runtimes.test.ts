/** The client, bundled into one file with its parser, calls a real server from each runtime that is there. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execute, MODULES, ROOT, toolPath } from '../api/tools/installed.ts'
import { running } from '../server/running.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-runtimes-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const PROGRAM = `
import { getTask, isTerminal, listTasks, runToEnd, SvcClient, SvcError, verifyWebhook } from '@svc-agents/client'
const [url, apiKey, agentId] = (globalThis.Deno ? Deno.args : process.argv.slice(2))
const client = new SvcClient({ apiKey, baseUrl: url })
const subjects = []
const run = await runToEnd(client, agentId, { order: 'A-1042', amount: 180 }, {
  onTask: (task) => task.content.arguments.amount < 200,
  onEvent: (event) => subjects.push(event.subject),
})
const { items } = await listTasks(client)
const task = await getTask(client, items[0].user_task_id)
const unknown = await client.getRun(agentId).catch((error) => error instanceof SvcError && error.code)
const forged = await verifyWebhook('whsec_AAAA', new Headers(), '{}').catch((error) => error.name)
console.log(JSON.stringify([run.status, run.output, isTerminal(run.status), subjects.at(0), subjects.at(-1), task.status, unknown, forged]))
`

beforeAll(async () => {
  const stdin = { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' as const }
  await build({ stdin, platform: 'neutral', bundle: true, minify: true, format: 'esm', outfile: join(home, 'all.mjs') })
})

const bun = ['bun-linux-x64', 'bun-linux-aarch64', 'bun-darwin-aarch64', 'bun-darwin-x64']
  .map((each) => join(MODULES, '@oven', each, 'bin/bun'))
  .find((each) => existsSync(each))
const deno = existsSync(toolPath('deno')) ? toolPath('deno') : undefined

const RUNTIMES = [
  { name: 'Node', command: process.execPath, args: [] },
  { name: 'Deno', command: deno, args: ['run', '--no-remote', '--no-npm', '--allow-net=127.0.0.1'] },
  { name: 'Bun', command: bun, args: ['run'] },
] as const

for (const { name, command, args } of RUNTIMES)
  test.skipIf(command === undefined)(`a run to its end in ${name} (Deno and Bun: test/api/tools)`, async () => {
    const { server, secret, agentId } = await running()
    const called = [...args, join(home, 'all.mjs'), server.url, secret, agentId]
    const { status, output } = await execute(command!, called, { cwd: home, env: { DENO_DIR: join(home, 'deno') } })
    expect(output).toBe(
      '["Completed",{"refunded":180},true,"engine.session.started","engine.session.completed","completed","not_found","SvcWebhookError"]\n',
    )
    expect(status).toBe(0)
  })
