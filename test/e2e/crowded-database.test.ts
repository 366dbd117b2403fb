/**
 * A server whose database has no room: for a while no connection, or no lock, is to be had.
 * Source: docs/design/runs-and-recovery.md#hold-instead-of-fail
 */
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bucketUrl } from '../bucket.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { svc, svcJson, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { waitUntil } from '../wait-until.ts'

const postgres = startPostgres(['max_connections=40'])
afterAll(() => postgres?.stop())

describe.skipIf(!postgres)('a database without room', () => {
  let count = 0
  let url: string
  let courier: Courier
  let server: ServerProcess
  const others: Client[] = []
  const env = () => ({ SVC_STORE: url, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' })

  beforeEach(async () => {
    url = postgres!.url(`crowded_${count++}`)
    await svcJson(['store', 'migrate'], { env: env() })
    courier = await openCourier({ timeout: '30s', callMs: () => 100, env: env() })
    server = await courier.serve(undefined, '--storage', await bucketUrl())
  })
  afterEach(async () => {
    await leave()
    await server.stop('SIGKILL')
    await courier.close()
  })

  /** Another connection to the database, by somebody else. */
  async function connectOther(): Promise<Client> {
    const client = new Client(url)
    client.on('error', () => {})
    await client.connect()
    others.push(client)
    return client
  }
  const hasConnected = (): Promise<boolean> =>
    connectOther().then(
      () => true,
      () => false,
    )
  const leave = async (): Promise<void> => void (await Promise.all(others.splice(0).map((client) => client.end())))

  interface StartAnswer {
    readonly status: number
    readonly retryAfter: string | null
    readonly body: { readonly code?: string; readonly runId?: string }
  }
  const start = async (): Promise<StartAnswer> => {
    const response = await fetch(`${server.url}/v1/agents/${courier.access.agentId}/runs`, {
      method: 'POST',
      headers: { 'X-API-Key': courier.access.secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ input: { kind: 'whole' } }),
    })
    const body = (await response.json()) as StartAnswer['body']
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body }
  }
  const REFUSED = { status: 503, retryAfter: '2', body: expect.objectContaining({ code: 'store_busy' }) as object }
  const several = <T>(howMany: number, make: () => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: howMany }, make))
  /** What an operator is told, without its time. */
  const warnings = () =>
    server
      .stderr()
      .split('\n')
      .filter((line) => /"level":"(warn|error)"/.test(line))
      .map((line) => JSON.parse(line) as { msg: string; code?: string; detail?: string })
      .map(({ msg, code, detail }) => ({ msg, code, detail }))
  const toldOnce = (why: string) => [
    {
      msg: 'the database cannot be used now',
      code: 'store_busy',
      detail: expect.stringMatching(`^The database .* has no room for more work now: ${why}\\.$`) as string,
    },
  ]

  async function completedOnce(runs: readonly string[]): Promise<void> {
    const caller = customer(server, courier.access)
    await waitUntil(async () => {
      await courier.review()
      return (await Promise.all(runs.map((runId) => caller.help(runId)))).every(({ status }) => ENDED.has(status))
    })
    for (const runId of runs) {
      expect(await caller.run(runId)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      const numbers = await caller.eventNumbers(runId)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    }
    const times = (tool: string) => courier.arrivals.filter((each) => each.tool === tool).length
    expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([runs.length, runs.length, runs.length])
    expect(await caller.sessions()).toHaveLength(runs.length)
  }

  test('whose locks others hold gets requests 503, one line, and loses nothing', { timeout: 300_000 }, async () => {
    const runs = await several(5, () => customer(server, courier.access).start())
    const other = await connectOther()
    await other.query('begin; lock table svc.session, svc.api_key in access exclusive mode')
    // More than the server has connections: some wait for a lock, and the others for a connection.
    const answers = await several(25, start)
    expect(answers).toEqual(answers.map(() => REFUSED))
    expect((await fetch(`${server.url}/v1/healthz`)).status).toBe(200)
    await other.query('commit')
    await completedOnce(runs)
    expect(warnings()).toEqual(toldOnce('every connection of this process is in use'))
  })

  test(
    'whose connections others have gets requests 503, one line, and loses nothing',
    { timeout: 300_000 },
    async () => {
      const runs = await several(5, () => customer(server, courier.access).start())
      const other = await connectOther()
      // Whatever connection the server loses, somebody else takes.
      for (let round = 0; round < 3; round++) {
        await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'svc %'`)
        while (await hasConnected());
      }
      const answers = await several(40, start)
      expect(answers).toContainEqual(REFUSED)
      const accepted = answers.flatMap(({ status, body }) => (status === 202 ? [body.runId!] : []))
      expect(answers.filter(({ status }) => status !== 202)).toEqual(
        Array.from({ length: answers.length - accepted.length }, () => REFUSED),
      )
      expect((await fetch(`${server.url}/v1/healthz`)).status).toBe(200)
      const data = join(courier.project.directory, 'late')
      const late = await svc(['serve', '--port', '0', '--data', data, '--storage', await bucketUrl()], {
        cwd: courier.project.directory,
        env: env(),
      })
      expect(late).toEqual({
        code: 8,
        stdout: '',
        stderr: expect.stringMatching(
          /^error\[store_busy\]: .*: sorry, too many clients already\.\n {2}fix: .*\n$/,
        ) as string,
      })
      await leave()
      await completedOnce([...runs, ...accepted])
      expect(warnings()).toEqual(toldOnce('sorry, too many clients already'))
    },
  )
})
