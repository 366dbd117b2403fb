/** What is measured: `svc serve` and DBOS, each as some processes on one database. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export interface ScaleSubject {
  readonly name: string
  /** Process ids of the servers. */
  readonly pids: readonly number[]
  /** The request whose answer is the result of a run. @param n which of the processes gets it */
  request(n: number, tools: string): { readonly port: number; readonly head: string; readonly body: string }
  close(): Promise<void>
}

export interface SubjectParts {
  /** An empty directory. */
  readonly directory: string
  /** Of an empty database. */
  readonly database: string
  /** Address of the model server. */
  readonly model: string
  readonly processes: number
  readonly profile: boolean
}

const ROOT = resolve(import.meta.dirname, '../..')
const BIN = join(ROOT, 'bin/svc.js')
const DBOS_PACKAGES = ['@dbos-inc/dbos-sdk@5.3.0', 'pg@8.23.1']

/** @param bucket address of S3-compatible storage with a bucket `svc` */
export async function openSvc(parts: SubjectParts, bucket: string): Promise<ScaleSubject> {
  const { directory, database, model, processes, profile } = parts
  writeProject(directory, model)
  const env = {
    PATH: process.env['PATH'],
    SVC_STORE: database,
    AWS_ACCESS_KEY_ID: 'svc',
    AWS_SECRET_ACCESS_KEY: 'the-secret-of-files',
    SVC_OPERATOR: 'bench',
    FAKE_API_KEY: 'none',
  }
  const svc = (...args: string[]): string =>
    execFileSync(process.execPath, [BIN, ...args], {
      cwd: directory,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  svc('store', 'migrate')
  const starts: Record<string, { path: string; key: string }> = {}
  for (const tools of ['0', '3']) {
    const agent = `bench.tools-${tools}`
    svc('publish', `tools-${tools}.yaml`, '--deploy', '--yes')
    svc('triggers', 'create', agent, '--type', 'api', '--name', 'api')
    const key = JSON.parse(svc('keys', 'create', '--agent', agent, '--trigger', 'api', '--json')) as {
      agentId: string
      secret: string
    }
    starts[tools] = { path: `/v1/agents/${key.agentId}/runs`, key: key.secret }
  }
  const ports = await freePorts(processes * 3)
  const children = Array.from({ length: processes }, (_, n) => {
    const listen = ['--port', String(ports[n * 3]), '--data', join(directory, `data-${n}`)]
    const storage = ['--storage', `s3://svc?endpoint=${bucket}`]
    return start(directory, [...profiling(directory, profile), BIN, 'serve', ...listen, ...storage], env)
  })
  const at = ports.filter((_, n) => n % 3 === 0)
  await Promise.all(at.map((port) => answers(`http://127.0.0.1:${port}/v1/healthz`)))
  return {
    name: `svc, ${processes}`,
    pids: children.map(({ pid }) => pid!),
    request(n, tools) {
      const { path, key } = starts[tools]!
      return {
        port: at[n % processes]!,
        head: `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\nprefer: wait=60\r\ncontent-type: application/json\r\n`,
        body: '{"input":{"message":"Hello."}}',
      }
    },
    close: () => end(children),
  }
}

export async function openDbos({
  directory,
  database,
  model,
  processes,
  profile,
}: SubjectParts): Promise<ScaleSubject> {
  const work = join(process.env['BENCH_WORK'] ?? join(tmpdir(), 'svc-bench'), 'dbos')
  if (!existsSync(join(work, 'node_modules/@dbos-inc'))) {
    mkdirSync(work, { recursive: true })
    writeFileSync(join(work, 'package.json'), '{ "private": true, "type": "module" }')
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...DBOS_PACKAGES], { cwd: work })
  }
  copyFileSync(join(import.meta.dirname, 'dbos.mjs'), join(work, 'dbos.mjs'))
  const ports = await freePorts(processes)
  const children: ChildProcess[] = []
  // One after the other: the first makes its tables.
  for (const port of ports) {
    // It asks for a name and a host; the socket that the address names counts all the same.
    const address = database.replace('postgres:///', 'postgres://svc@localhost/')
    const args = [...profiling(directory, profile), join(work, 'dbos.mjs'), String(port), address, model]
    children.push(start(work, args, { PATH: process.env['PATH'] }))
    await answers(`http://127.0.0.1:${port}/`)
  }
  return {
    name: `DBOS, ${processes}`,
    pids: children.map(({ pid }) => pid!),
    request: (n, tools) => ({
      port: ports[n % processes]!,
      head: `POST /tools-${tools} HTTP/1.1\r\nhost: localhost\r\n`,
      body: '',
    }),
    close: () => end(children),
  }
}

function writeProject(directory: string, model: string): void {
  const put = (path: string, text: string): void => {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  put('prompts/answer.md', 'Answer.\n')
  put(
    'svc.config.yaml',
    `workspace: bench
# DBOS bounds nothing.
concurrency: { tool: 1000, provider: 1000, server: 1000 }
providers:
  fake: { type: openai-compatible, base_url: '${model}' }
tools:
  bench.look: { mock: [{ result: { seen: 1 } }] }
`,
  )
  put(
    'tools/look.yaml',
    `apiVersion: svc/v1
kind: Tool
metadata: { name: look, namespace: bench, version: 1.0.0 }
spec:
  description: Looks.
  side_effect_class: read_only
  input_schema:
    inline: { type: object, properties: { n: { type: number } }, additionalProperties: false }
`,
  )
  for (const tools of ['0', '3'])
    put(
      `tools-${tools}.yaml`,
      `apiVersion: svc/v1
kind: Agent
metadata:
  name: tools-${tools}
  namespace: bench
  version: 1.0.0
  owner: bench
  governance: { risk_tier: low }
secrets: { fake: { fromEnv: FAKE_API_KEY } }
spec:
  purpose: Measures.
  instructions: { ref: prompts/answer.md }
  model: { provider: fake, name: tools-${tools} }
  tools: [{ ref: 'bench.look@^1.0' }]
  limits: { max_tokens_per_run: 100000, max_loop_iterations: 20, max_wall_clock_seconds: 600 }
`,
    )
}

const profiling = (directory: string, profile: boolean): readonly string[] =>
  profile ? ['--cpu-prof', `--cpu-prof-dir=${join(directory, 'profiles')}`] : []

function start(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2000)))
  child.on('exit', (code) => {
    if (code !== 0 && code !== null) process.stderr.write(`A server ended with ${code}: ${said}\n`)
  })
  return child
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  const gone = children.map((child) => new Promise((done) => child.once('exit', done)))
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(gone)
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    await pause(100)
  }
  throw new Error(`Nothing answers at ${url}.`)
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}

/** Seconds of processor that a process has used, with those of its children that have ended. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // User and system time, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
