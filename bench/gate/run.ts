/** Time of a call through the gate, beside the same call to the bare server in the same round. See README.md. */
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const CALLS = Number(process.env['CALLS'] ?? 60)
/** Calls of each tool before anything is measured. */
const WARM_UP = 300
const TOOLS = ['find', 'write'] as const
const GOAL_MS = 3

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-gate-'))
const children: ChildProcess[] = []

try {
  const bareUrl = await startBare()
  writeProject(bareUrl)
  const svc = (...args: string[]) =>
    JSON.parse(execFileSync(process.execPath, [BIN, ...args, '--json'], { cwd: directory, encoding: 'utf8' })) as {
      readonly [name: string]: string
    }
  svc('publish', '.', '--deploy')
  const { triggerId = '' } = svc('triggers', 'create', 'bench.desk', '--type', 'api')
  const { secret = '' } = svc('keys', 'create', '--agent', 'bench.desk', '--trigger', triggerId)
  const url = await startServer()
  const headers = { authorization: `Bearer ${secret}` }
  const gate = new URL(`${url}/mcp/bench.desk`)
  const subjects = {
    'bare server': await connect(new StreamableHTTPClientTransport(new URL(bareUrl))),
    'gate, HTTP': await connect(new StreamableHTTPClientTransport(gate, { requestInit: { headers } })),
    'gate, svc mcp': await connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BIN, 'mcp', '--tools', 'bench.desk', '-C', directory],
        stderr: 'ignore',
      }),
    ),
  }
  const misses: string[] = []
  console.log('a call that       bare server    gate, HTTP    more    times    gate, svc mcp    more    times')
  for (const [tool, p50] of await measure(Object.values(subjects))) {
    const [bare = 0, overHttp = 0, overStdio = 0] = p50
    const cells = [overHttp, overStdio].map((ms) => [ms, ms - bare, ms / bare] as const)
    const [http, stdio] = cells.map(([ms, more, times], at) =>
      [
        `${ms.toFixed(2)} ms`.padStart(at === 0 ? 13 : 16),
        more.toFixed(2).padStart(7),
        times.toFixed(1).padStart(8),
      ].join(' '),
    )
    console.log(
      (tool === 'find' ? 'only reads' : 'writes, allowed').padEnd(17),
      `${bare.toFixed(2)} ms`.padStart(11),
      http,
      stdio,
    )
    if (overHttp - bare > GOAL_MS) misses.push(`${tool} took ${(overHttp - bare).toFixed(2)} ms more`)
  }
  if (misses.length > 0) {
    console.log(`\nmissed the goal of ${GOAL_MS} ms: ${misses.join('; ')}`)
    process.exitCode = 1
  }
  await Promise.all(Object.values(subjects).map((client) => client.close()))
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children.map(async (child) => child.exitCode ?? (await new Promise((done) => child.once('exit', done)))),
  )
  rmSync(directory, { recursive: true, force: true })
}

async function connect(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return client
}

/** Median of a call of each tool, for each client; each round asks all of them for all tools, in turns, and the best round counts. */
async function measure(clients: readonly Client[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const best = new Map(TOOLS.map((tool) => [tool, clients.map(() => Infinity)]))
  let n = 0
  const call = async (client: Client, tool: string, round: number): Promise<number> => {
    const started = performance.now()
    const result = await client.callTool({
      name: tool,
      arguments: { n: n++ },
      _meta: { 'svc/conversation': `${tool} ${round}` },
    })
    const took = performance.now() - started
    if (result.isError) throw new Error(JSON.stringify(result))
    return took
  }
  for (let at = 0; at < WARM_UP; at++)
    for (const tool of TOOLS) for (const client of clients) await call(client, tool, -1)
  for (let round = 0; round < ROUNDS; round++)
    for (const [tool, medians] of best) {
      const times = clients.map((): number[] => [])
      for (let at = 0; at < CALLS; at++)
        for (const [index, client] of clients.entries()) times[index]!.push(await call(client, tool, round))
      for (const [index, each] of times.entries())
        medians[index] = Math.min(medians[index]!, each.toSorted((a, b) => a - b)[CALLS >> 1]!)
    }
  return best
}

function startBare(): Promise<string> {
  const child = fork(new URL('bare.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
  children.push(child)
  return new Promise((done) => child.once('message', (about) => done((about as { url: string }).url)))
}

function startServer(): Promise<string> {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--json'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  return new Promise((done) =>
    createInterface({ input: child.stdout }).once('line', (line) => done((JSON.parse(line) as { url: string }).url)),
  )
}

function writeProject(bareUrl: string): void {
  mkdirSync(join(directory, 'tools'))
  const tool = (name: string, effect: string): void =>
    writeFileSync(
      join(directory, `tools/${name}.yaml`),
      `apiVersion: svc/v1
kind: Tool
metadata: { name: ${name}, namespace: bench, version: 1.0.0 }
spec: { side_effect_class: ${effect} }
`,
    )
  tool('find', 'read_only')
  tool('write', 'non_idempotent_write')
  writeFileSync(join(directory, 'svc.config.yaml'), 'workspace: bench\n')
  writeFileSync(
    join(directory, 'writes.yaml'),
    `apiVersion: svc/v1
kind: Policy
metadata: { name: writes, namespace: bench, version: 1.0.0 }
spec:
  description: Writes are allowed.
  scope: tool:bench.write
  conditions: { field: args.n, op: gte, value: 0 }
  decision: { type: allow, reason: Measured. }
`,
  )
  writeFileSync(
    join(directory, 'agent.yaml'),
    `apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: bench, version: 1.0.0 }
spec:
  purpose: Stands for the client of the measurement.
  instructions: { text: For people. }
  model: { provider: external, name: client }
  mcp_servers: [{ name: bare, url: '${bareUrl}' }]
  tools:
    - { ref: 'bench.find@^1', mcp: { server: bare } }
    - { ref: 'bench.write@^1', mcp: { server: bare }, policies: [{ ref: writes.yaml }] }
`,
  )
}
