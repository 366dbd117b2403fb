/** The client, bundled into one file with its parser, calls a real server from each runtime that is there. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'
import { execute, MODULES, ROOT, toolPath } from '../api/tools/installed.ts'
import { running } from '../server/running.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-runtimes-'))
afterAll(() => removeDirectory(home))

const PROGRAM = `
import { getTask, isTerminal, listTasks, runToEnd, SvcClient, SvcError, verifyWebhook } from '@svc-agents/client'
async function main(url, apiKey, agentId) {
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
  return JSON.stringify([run.status, run.output, isTerminal(run.status), subjects.at(0), subjects.at(-1), task.status, unknown, forged])
}
`

/** An edge runtime evaluates scripts, and has nothing of Node. */
const EDGE = join(MODULES, '@edge-runtime/vm')
const EDGE_HOST = `
import { readFileSync } from 'node:fs'
import { EdgeVM } from ${JSON.stringify(join(EDGE, 'dist/index.js'))}
const edge = new EdgeVM()
const [script, ...args] = process.argv.slice(2)
edge.evaluate(readFileSync(script, 'utf8'))
edge.context.args = args
console.log(await edge.evaluate('main(...args)'))
`

beforeAll(async () => {
  const bundle = (last: string, format: 'esm' | 'iife', file: string) =>
    build({
      stdin: { contents: PROGRAM + last, resolveDir: ROOT, loader: 'ts' },
      platform: 'neutral',
      bundle: true,
      minify: true,
      format,
      outfile: join(home, file),
    })
  await bundle('console.log(await main(...(globalThis.Deno ? Deno.args : process.argv.slice(2))))', 'esm', 'all.mjs')
  await bundle('globalThis.main = main', 'iife', 'all.js')
  writeFileSync(join(home, 'edge.mjs'), EDGE_HOST)
})

const bun = ['bun-linux-x64', 'bun-linux-aarch64', 'bun-darwin-aarch64', 'bun-darwin-x64']
  .map((each) => join(MODULES, '@oven', each, 'bin/bun'))
  .find((each) => existsSync(each))
const deno = existsSync(toolPath('deno')) ? toolPath('deno') : undefined

const RUNTIMES = [
  { name: 'Node', command: process.execPath, args: [] },
  { name: 'Deno', command: deno, args: ['run', '--no-remote', '--no-npm', '--allow-net=127.0.0.1'] },
  { name: 'Bun', command: bun, args: ['run'] },
  {
    name: 'an edge runtime',
    command: existsSync(EDGE) ? process.execPath : undefined,
    args: [join(home, 'edge.mjs')],
    bundle: 'all.js',
  },
]

for (const { name, command, args, bundle = 'all.mjs' } of RUNTIMES)
  test.skipIf(command === undefined)(`a run to its end in ${name} (all but Node: test/api/tools)`, async () => {
    const { server, secret, agentId } = await running()
    const called = [...args, join(home, bundle), server.url, secret, agentId]
    const { status, output } = await execute(command!, called, { cwd: home, env: { DENO_DIR: join(home, 'deno') } })
    expect(output).toBe(
      '["Completed",{"refunded":180},true,"engine.session.started","engine.session.completed","completed","not_found","SvcWebhookError"]\n',
    )
    expect(status).toBe(0)
  })
