/**
 * The services of compose.yaml as processes on loopback: its commands, its variables and its balancers' own files, with only addresses
 * replaced. Skipped where HAProxy or PostgreSQL is not installed.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { openLocalStorage, type LocalStorage } from '../../src/blobs/local/serve.ts'
import { startPostgres } from '../store/postgres-server.ts'
import {
  copyExample,
  deploy,
  endWithTests,
  svc,
  svcJson,
  svcProcess,
  type Access,
  type Project,
} from '../e2e/binary.ts'
import { findFreePort } from '../free-port.ts'
import { waitUntil } from '../wait-until.ts'

const root = resolve(import.meta.dirname, '../..')
const haproxy = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((each) => existsSync(each))
if (!haproxy)
  process.stderr.write('HAProxy is not installed: the test of compose.yaml is skipped (apt-get install haproxy).\n')
const postgres = haproxy ? startPostgres() : undefined
afterAll(() => postgres?.stop())

interface Service {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}
const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
}
const operators = parse(readFileSync(join(root, 'deploy/compose/operators.yaml'), 'utf8')) as typeof compose

/** Two addresses of this machine, which no other test uses: each server keeps the ports that compose.yaml gives it. */
const net = `127.${randomInt(20, 220)}.${randomInt(20, 220)}`
const addresses = [`${net}.2`, `${net}.3`]

describe.skipIf(!haproxy || !postgres)('compose.yaml', { timeout: 240_000 }, () => {
  let project: Project
  let files: LocalStorage
  let names: Socket
  let env: Readonly<Record<string, string>>
  let access: Access
  let count = 0
  const servers: ChildProcess[] = []
  const processes: ChildProcess[] = []
  let url: string
  let operatorUrl: string

  const start = (program: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): ChildProcess => {
    const child = spawn(program, args, { cwd: project.directory, env: { PATH: process.env['PATH'], ...variables } })
    endWithTests(child)
    processes.push(child)
    return child
  }
  /** A read, repeated once where its connection was closed without an answer, as every client of HTTP may and ours do. */
  const get = (path: string): Promise<Response> => {
    const read = () => fetch(`${url}${path}`, { headers: { 'X-API-Key': access.secret } })
    return read().catch(read)
  }

  /** A balancer with its own file, in which only its address and that of the name server are others. */
  const balance = async (name: string, port: number): Promise<void> => {
    const text = readFileSync(join(root, 'deploy/compose', name), 'utf8')
    const file = join(project.directory, name)
    const dns = `127.0.0.1:${(names.address() as AddressInfo).port}`
    writeFileSync(
      file,
      text
        .replace('127.0.0.11:53', dns)
        .replace(/bind :\d+/, `bind 127.0.0.1:${port}`)
        .replace('/usr/local/etc/haproxy/', `${project.directory}/`),
    )
    expect(spawnSync(haproxy!, ['-c', '-q', '-f', file]).status).toBe(0)
    start(haproxy!, ['-db', '-q', '-f', file])
  }

  const serve = (address: string): ChildProcess => {
    const data = join(project.directory, address)
    const config = join(project.directory, `${address}.yaml`)
    const own = readFileSync(join(project.directory, 'svc.config.yaml'), 'utf8')
    writeFileSync(config, `${own}console: { host: ${address}, url: '${operatorUrl}' }\n`)
    const command = operators.services['server']!.command.map((each) =>
      each.replace('0.0.0.0', address).replace('http://files:9000', files.endpoint),
    )
    expect(command.slice(0, 4)).toEqual(
      compose.services['server']!.command.map((each) =>
        each.replace('0.0.0.0', address).replace('http://files:9000', files.endpoint),
      ),
    )
    const internal = env['SVC_INTERNAL']!.replace('0.0.0.0', address)
    return start(process.execPath, [join(root, 'bin/svc.js'), ...command], {
      ...env,
      SVC_DATA: data,
      SVC_CONFIG: config,
      SVC_INTERNAL: internal,
      SVC_PEER_URL: `http://${internal}`,
      REFUNDS_LEDGER: join(project.directory, 'ledger.log'),
    })
  }

  beforeEach(async () => {
    project = copyExample('refund')
    const [apiPort, operatorPort] = [await findFreePort(), await findFreePort()]
    url = `http://127.0.0.1:${apiPort}`
    operatorUrl = `https://localhost:${operatorPort}`
    appendFileSync(
      join(project.directory, 'svc.config.yaml'),
      '\nnetwork: { hosts: [localhost], proxies: [127.0.0.0/8] }\n',
    )
    const { environment, command } = compose.services['migrate']!
    mkdirSync(join(project.directory, 'files'))
    files = await openLocalStorage({
      directory: join(project.directory, 'files'),
      host: '127.0.0.1',
      port: 0,
      credentials: { accessKeyId: 'svc', secretAccessKey: 'the-secret-of-files' },
    })
    env = {
      ...environment,
      SVC_STORE: postgres!.url(`compose_${count++}`),
      AWS_SECRET_ACCESS_KEY: 'the-secret-of-files',
      SVC_CLUSTER_SECRET: 'the-secret-of-the-servers',
    }
    expect(Object.keys(environment).sort()).toEqual([
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'SVC_CLUSTER_SECRET',
      'SVC_INTERNAL',
      'SVC_STORE',
    ])
    expect(await svc(command, { cwd: project.directory, env })).toMatchObject({ code: 0 })
    access = await deploy(project, 'acme.refund-desk', { env })
    names = await nameServer(addresses)
    const pem = join(project.directory, 'operators.pem')
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
    execFileSync('openssl', [...made, '-keyout', `${pem}.key`, '-out', `${pem}.crt`], { stdio: 'ignore' })
    writeFileSync(pem, readFileSync(`${pem}.crt`, 'utf8') + readFileSync(`${pem}.key`, 'utf8'))
    servers.push(...addresses.map(serve))
    await balance('haproxy.cfg', apiPort)
    await balance('operators.cfg', operatorPort)
    await waitUntil(async () => {
      const all = addresses.map((each) => fetch(`http://${each}:4313/v1/readyz`).catch(() => undefined))
      return (await Promise.all(all)).every((each) => each?.status === 200)
    })
    await waitUntil(async () => (await fetch(`${url}/v1/healthz`).catch(() => undefined))?.status === 200)
  })

  afterEach(async () => {
    servers.length = 0
    for (const child of processes.splice(0)) await kill(child)
    names?.close()
    await files?.close(0)
    project?.remove()
  })

  test('streams pass the balancer, a killed server loses nothing, and an operator approves over TLS', async () => {
    const key = await svcJson<{ secret: string }>(['keys', 'create', '--operator', '--email', 'ana@acme.example'], {
      cwd: project.directory,
      env,
    })
    const started = await fetch(`${url}/v1/agents/${access.agentId}/runs`, {
      method: 'POST',
      headers: { 'X-API-Key': access.secret, 'content-type': 'application/json' },
      body: JSON.stringify({ input: { order: 'A-1042', amount: 180 } }),
    })
    const { runId } = (await started.json()) as { runId: string }

    // What happened until a person is asked arrives while the run waits: nothing on the way keeps it back.
    const seen: number[] = []
    const read = async (from: number): Promise<void> => {
      const response = await fetch(`${url}/v1/runs/${runId}/stream`, {
        headers: { 'X-API-Key': access.secret, ...(from > 0 && { 'Last-Event-ID': String(from) }) },
      })
      // Without a body where nothing more will come.
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
        for (const [, id] of chunk.matchAll(/^id: ?(\d+)$/gm)) seen.push(Number(id))
    }
    const stateOf = async () => ((await (await get(`/v1/runs/${runId}`)).json()) as { status: string }).status
    const follow = async (): Promise<void> => {
      while (!['Completed', 'Failed', 'Halted', 'Cancelled'].includes(await stateOf().catch(() => '')))
        await read(seen.at(-1) ?? 0).catch(() => after(100))
      await read(seen.at(-1) ?? 0)
    }
    const followed = follow()
    await waitUntil(async () => (await stateOf()) === 'WaitingForHITL')
    await waitUntil(() => seen.length > 5)

    servers[0]!.kill('SIGKILL')
    // The balancer asks only the one that is left.
    for (let n = 0; n < 10; n++) expect((await get(`/v1/runs/${runId}`)).status).toBe(200)

    const asAna = (...args: string[]) =>
      svcProcess([...args, '--url', operatorUrl], {
        env: { SVC_OPERATOR_KEY: key.secret, NODE_EXTRA_CA_CERTS: join(project.directory, 'operators.pem.crt') },
      })
    const inbox = await asAna('inbox', '--json', '--jq', '.items[0].runId')
    expect(inbox).toMatchObject({ code: 0, stdout: `"${runId}"\n` })
    expect(await asAna('approve', '@waiting', '--yes')).toEqual({
      code: 0,
      stdout: expect.stringContaining('approved') as unknown,
      stderr: '',
    })
    await waitUntil(async () => (await stateOf()) === 'Completed')
    await followed
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => at + 1))
    expect(readFileSync(join(project.directory, 'ledger.log'), 'utf8').trim().split('\n')).toHaveLength(1)
  })
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Answers every question for an IPv4 address with these, as the name server of Docker does for a service of several containers. */
async function nameServer(answers: readonly string[]): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5
    const question = query.subarray(12, end)
    const isAddress = question.readUInt16BE(question.length - 4) === 1
    const records = (isAddress ? answers : []).map((each) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...each.split('.').map(Number)]),
    )
    const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([head, question, ...records]), port, address)
  })
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready))
  return socket
}
