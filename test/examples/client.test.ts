/** examples/client: each program as its user starts it, against the real binary. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  copyExample,
  deploy,
  endWithTests,
  serveHere,
  svc,
  type Access,
  type Project,
  type RunningServer,
} from '../e2e/binary.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const program = (name: string): string[] => ['--import', 'tsx', join(ROOT, `examples/client/${name}.ts`)]

let desk: Project & Access
let intake: Project & Access
const servers: RunningServer[] = []

/** A project that is published and served, with a key for it. */
async function open(project: Project, agent: string, uploads: boolean): Promise<Project & Access & { url: string }> {
  const access = await deploy(project, agent, { uploads })
  const server = await serveHere(['--data', project.data], { cwd: project.directory })
  servers.push(server)
  return { ...project, ...access, url: server.url }
}

const envOf = (access: Access, url: string) => ({
  PATH: process.env['PATH'],
  SVC_URL: url,
  SVC_API_KEY: access.secret,
  SVC_AGENT: access.agentId,
})

beforeAll(async () => {
  desk = await open(copyExample('refund'), 'acme.refund-desk', false)
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  cpSync(join(ROOT, 'templates/intake'), directory, { recursive: true })
  intake = await open({ directory, data: join(directory, '.svc'), remove: () => undefined }, 'acme.intake', true)
})

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  desk.remove()
  intake.remove()
})

test('refund.ts follows a run until a person has decided, and prints the output', async () => {
  const env = envOf(desk, servers[0]!.url)
  const child = spawn(process.execPath, [...program('refund'), desk.agentId, 'A-1042', '180'], { env })
  endWithTests(child)
  const [stdout, closed] = [text(child.stdout), once(child, 'close')]
  const lines: string[] = []
  const task = await new Promise<string>((found) =>
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      const [, id] = /^svc approve (\S+)/.exec(line) ?? []
      if (id !== undefined) found(id)
    }),
  )
  const approved = await svc(['approve', task, '--data', desk.data], { cwd: desk.directory })
  expect(approved.stdout).toMatch(/^approved Refund 180 EUR for A-1042 /)
  expect(await stdout).toBe('{"refunded":180,"currency":"EUR"}\n')
  await closed
  expect(lines.join('\n')).toMatch(
    /^engine\.session\.started\n[^]*\nsvc approve \S+ {3}\{"order":"A-1042","amount":180,"currency":"EUR"\}: Refunds above EUR 100 need a person\n[^]*engine\.session\.completed$/,
  )
  const again = await run(process.execPath, [...program('refund'), desk.agentId, 'A-1042', '180'], { env })
  expect(again.stderr).not.toContain('svc approve')
})

test('intake.ts uploads a document, answers what the agent asks and prints the booking', async () => {
  const invoice = join(intake.directory, 'samples/two-suppliers.txt')
  const { stdout, stderr } = await run(process.execPath, [...program('intake'), intake.agentId, invoice], {
    env: envOf(intake, servers[1]!.url),
  })
  expect(JSON.parse(stdout)).toMatchObject({ supplier: 'miller-paper', total_cents: 4900 })
  expect(stderr).toBe('multi_option: Which supplier sent this invoice?\n')
})

test('backend.ts lets a browser start, see and decide, and keeps the key', async () => {
  const child = spawn(process.execPath, program('backend'), { env: { ...envOf(desk, servers[0]!.url), PORT: '0' } })
  endWithTests(child)
  const url = await new Promise<string>((found) => createInterface({ input: child.stdout }).once('line', found))
  const send = async (path: string, body?: unknown): Promise<Record<string, unknown>> =>
    (await (
      await fetch(url + path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
    ).json()) as Record<string, unknown>
  const until = async (status: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const seen = await send(`/refunds/${String(id)}`)
      if (seen['status'] === status) return seen
      await new Promise((next) => setTimeout(next, 50))
    }
  }
  const { id } = await send('/refunds', { order: 'A-7', amount: 300 })
  expect(await until('WaitingForHITL')).toEqual({
    status: 'WaitingForHITL',
    output: null,
    task: { title: expect.any(String) as unknown, arguments: { order: 'A-7', amount: 300, currency: 'EUR' } },
  })
  await send(`/refunds/${String(id)}/decision`, { approved: false })
  expect(await until('Completed')).toMatchObject({ output: { refunded: 0 } })
  expect(await send('/refunds/01a1fcb9-4c1e-7000-a43f-bd56b13f2a91')).toEqual({ error: 'No such refund.' })
  child.kill('SIGTERM')
})
