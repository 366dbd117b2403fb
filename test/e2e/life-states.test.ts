/**
 * The states of a server's life, as a balancer, a reader and the other servers see them.
 * Source: docs/design/several-processes.md#life-of-a-process
 */
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bucketUrl } from '../bucket.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import type { FakeModel } from '../fakes/model-server.ts'
import { startPostgres } from '../store/postgres-server.ts'
import {
  deploy,
  serve,
  serveHere,
  svcJson,
  writeProject,
  type Access,
  type Project,
  type RunningServer,
  type ServerProcess,
} from './binary.ts'
import { customer } from './customer.ts'
import { findFreePort } from '../free-port.ts'
import { waitUntil } from '../wait-until.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

/** Long enough that no test reaches it, and whoever has to wait for the end of a lease fails. */
const LEASE = '120s'

const files = (url: string): Readonly<Record<string, string>> => ({
  'svc.config.yaml': 'workspace: thinking\n',
  'thinker.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: thinker, namespace: acme, version: 1.0.0 }
secrets: { model-key: { fromEnv: THE_MODEL_KEY } }
spec:
  purpose: Thinks.
  instructions: { text: Think. }
  model: { provider: openai-compatible, name: m, secret: model-key, base_url: '${url}/v1' }
`,
})

describe.skipIf(!postgres)('a server', () => {
  let count = 0
  let project: Project
  let access: Access
  let env: Readonly<Record<string, string>>
  let database: pg.Pool
  let model: FakeModel
  /** Until then no completion ends. */
  let endThinking: () => void
  const closers: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    const url = postgres!.url(`states_${count++}`)
    env = {
      SVC_STORE: url,
      SVC_LEASE_TTL: LEASE,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      THE_MODEL_KEY: 'a-key-of-the-model',
    }
    await svcJson(['store', 'migrate'], { env })
    model = await startFakeOpenai([{ say: 'Thought.' }], new Promise((resolve) => (endThinking = resolve)))
    project = writeProject(files(model.url))
    access = await deploy(project, 'acme.thinker', { env })
    database = new pg.Pool({ connectionString: url, max: 1 })
    // Of the database that crashes; the next query opens another connection.
    database.on('error', () => {})
  })
  afterEach(async () => {
    endThinking()
    for (const close of closers.splice(0)) await close()
    await database.end()
    await model.close()
    project.remove()
  })

  const optionsOf = async (name: string, port: number, drain: string) =>
    [
      ['--data', join(project.directory, name), '--storage', await bucketUrl(), '--internal', `127.0.0.1:${port}`],
      { cwd: project.directory, env: { ...env, SVC_DRAIN: drain } },
    ] as const
  const open = async (name: string, port = 0): Promise<RunningServer> => {
    const server = await serveHere(...(await optionsOf(name, port, '25s')))
    closers.push(() => server.stop())
    return server
  }
  /** One whose process ends with its time to drain, and with it what is still under way. */
  const openMortal = async (name: string, drain: string): Promise<ServerProcess> => {
    const server = await serve(...(await optionsOf(name, 0, drain)))
    closers.push(() => server.stop('SIGKILL'))
    return server
  }
  /** Starts a run; its completion is then under way. */
  const start = async (server: RunningServer): Promise<string> => {
    const runId = await customer(server, access).start(undefined, {})
    await waitUntil(() => model.requests.length > 0)
    return runId
  }
  /** What the internal listener answers, until it is stopped: each state once, in order. */
  function watchReadiness(port: number): { readonly seen: string[]; stop(): void } {
    const seen: string[] = []
    const over = new AbortController()
    void (async () => {
      while (!over.signal.aborted) {
        const answer = await fetch(`http://127.0.0.1:${port}/v1/readyz`).then(
          async (response) => `${response.status} ${((await response.json()) as { status: string }).status}`,
          () => 'nobody',
        )
        if (seen.at(-1) !== answer) seen.push(answer)
        await after(10)
      }
    })()
    return { seen, stop: () => over.abort() }
  }
  const epochOf = async (): Promise<readonly (readonly [string, boolean])[]> => {
    const { rows } = await database.query<{ epoch: string; held: boolean }>(
      'select epoch, owner is not null as held from svc.session order by n',
    )
    return rows.map(({ epoch, held }) => [epoch, held])
  }

  test(
    'is ready while it serves, not while its database is away, and not once it drains',
    { timeout: 240_000 },
    async () => {
      const port = await findFreePort()
      const readiness = watchReadiness(port)
      await waitUntil(() => readiness.seen.length > 0)
      const server = await open('a', port)
      await waitUntil(() => readiness.seen.at(-1) === '200 serving')
      expect(readiness.seen[0]).toBe('nobody')
      expect(readiness.seen.slice(1, -1).filter((each) => each !== '503 starting')).toEqual([])

      readiness.seen.length = 0
      const isAlive = async () => (await fetch(`http://127.0.0.1:${port}/v1/healthz`)).status
      const readMetrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const [goneAt] = [performance.now(), postgres!.crash()]
      await waitUntil(() => readiness.seen.at(-1) === '503 store_away')
      expect(performance.now() - goneAt).toBeGreaterThan(4900)
      expect(await isAlive()).toBe(200)
      expect(await readMetrics()).toContain('\nsvc_leases_held 0\n')
      postgres!.start()
      await waitUntil(() => readiness.seen.at(-1) === '200 serving')

      await start(server)
      expect(await readMetrics()).toContain('\nsvc_leases_held 1\n')
      const ended = server.stop('SIGTERM')
      await waitUntil(() => readiness.seen.at(-1) === '503 draining')
      for (let look = 0; look < 20; look++) expect(await isAlive()).toBe(200)
      endThinking()
      expect(await ended).toBe(0)
      await waitUntil(() => readiness.seen.at(-1) === 'nobody')
      readiness.stop()
      expect(readiness.seen).toEqual(['200 serving', '503 store_away', '200 serving', '503 draining', 'nobody'])
      expect(await epochOf()).toEqual([['1', false]])
    },
  )

  test(
    'that drains stores the completion under way, and sends its readers away at moments of their own',
    { timeout: 240_000 },
    async () => {
      const [a, b] = [await open('a'), await open('b')]
      const runId = await start(a)
      const headers = { 'X-API-Key': access.secret }
      const streams = await Promise.all(
        Array.from({ length: 8 }, () => fetch(`${a.url}/v1/runs/${runId}/stream`, { headers })),
      )
      const ended = a.stop('SIGTERM')
      endThinking()
      const texts = await Promise.all(streams.map((stream) => stream.text()))
      const waits = texts.map((text) => Number(/\nretry: (\d+)\n\n$/.exec(text)?.[1]))
      expect(Math.max(...waits)).toBeLessThanOrEqual(1000)
      expect(new Set(waits).size).toBeGreaterThan(1)
      expect(await ended).toBe(0)
      // By the server that began it, under its first lease.
      expect(await customer(b, access).run(runId)).toMatchObject({ status: 'Completed', output: 'Thought.' })
      expect(await epochOf()).toEqual([['1', false]])
    },
  )

  test(
    'whose time to drain is over gives a completion to another one, which begins it again',
    { timeout: 240_000 },
    async () => {
      const [a, b] = [await openMortal('a', '1s'), await open('b')]
      await start(a)
      expect(await epochOf()).toEqual([['1', true]])
      expect(await a.stop('SIGTERM')).toBe(0)
      // Nobody waits for the end of the lease.
      await waitUntil(async () => (await epochOf())[0]?.[0] === '2')
      expect(await epochOf()).toEqual([['2', true]])
      expect((await fetch(`${b.url}/v1/healthz`)).status).toBe(200)
    },
  )
})
