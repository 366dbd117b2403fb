/**
 * The real process dies at one commit after another while its run waits for work outside, a signal, a time and a person, and while
 * an operator moves it to another version.
 */
import { setTimeout as after } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunStatusBody } from '../../src/spec/api.ts'
import type { InboxItem } from '../../src/operations/tasks.ts'
import type { RunView } from '../../src/operations/runs.ts'
import { svc, svcJson, type RunningServer, type ServerProcess } from './binary.ts'
import { isLong } from '../cases.ts'
import { customer, ENDED } from './customer.ts'
import { openHarbour, type Harbour } from './harbour.ts'
import { isBroken } from './seeded.ts'

let harbour: Harbour
beforeEach(async () => void (harbour = await openHarbour()))
afterEach(() => harbour.close())

const KEY = { 'Content-Type': 'application/json' }

/** What the world does for a run: it reports its shipment and says when the ship landed, until it is heard. */
async function helpFromOutside({ url }: RunningServer, runId: string): Promise<readonly unknown[]> {
  const send = async (path: string, body: object): Promise<unknown> => {
    const headers = { ...KEY, 'X-API-Key': harbour.access.secret }
    return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const heard: unknown[] = []
  for (const { token } of harbour.shipments.filter((each) => each.runId === runId))
    heard.push(await send(`/v1/completions/${token}`, { result: { number: 'S-7' } }))
  heard.push(await send(`/v1/runs/${runId}/signals/landed`, { data: { at: 'Oslo' } }))
  return heard
}

/** Lets a run go on until it has ended or its server is gone. */
async function drive(server: RunningServer | ServerProcess, runId: string): Promise<RunStatusBody | 'died'> {
  let died = false
  if ('died' in server) void server.died.then(() => (died = true))
  const api = customer(server, harbour.access)
  for (;;) {
    try {
      const run = await api.help(runId)
      if (ENDED.has(run.status)) return run
      await helpFromOutside(server, runId)
      if (run.status === 'WaitingForHITL') await harbour.review()
    } catch (error) {
      if (!isBroken(error)) throw error
      await after(50)
      if (died) return 'died'
    }
    await after(20)
  }
}

/** The first commit is the start. `SVC_TEST_LONG=1` dies before and after each of a run. */
const COMMITS = isLong
  ? [2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((pass) => [`commit.before:${pass}`, `commit.after:${pass}`])
  : ['commit.before:4', 'commit.after:5', 'commit.before:7']

test.each(COMMITS)(
  'a report, a signal and a time that end the waits of a run do so once, although its server dies at %s',
  async (failpoint) => {
    const mortal = await harbour.serve(failpoint)
    const runId = await customer(mortal, harbour.access).start()
    expect(await drive(mortal, runId)).toBe('died')
    const server = await harbour.serveHere()
    expect(await drive(server, runId)).toMatchObject({ status: 'Completed', output: 'Shipped as S-7, landed at Oslo.' })
    expect(harbour.shipments.filter((each) => each.runId === runId)).toHaveLength(1)
    expect(harbour.payments.filter((each) => each === runId)).toHaveLength(1)
    // What is reported again afterwards is known, and changes nothing.
    const [report, signal] = await helpFromOutside(server, runId)
    expect(report).toMatchObject({ duplicate: true })
    expect(signal).toMatchObject({ code: 'signal_not_awaited' })
    const numbers = await customer(server, harbour.access).eventNumbers(runId)
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    expect(await server.stop('SIGTERM')).toBe(0)
  },
  120_000,
)

test('a run that is moved while its server dies has the old version or the new one, with the approvals that it needs', async () => {
  const at = { cwd: harbour.project.directory }
  const data = ['--data', harbour.project.data]
  const waiting = async (): Promise<string> => {
    const server = await harbour.serveHere()
    const api = customer(server, harbour.access)
    const runId = await api.start()
    while ((await api.run(runId)).status !== 'WaitingForHITL') {
      await helpFromOutside(server, runId)
      await after(20)
    }
    await server.stop('SIGTERM')
    return runId
  }
  const migrate = (runId: string) => svc(['runs', 'migrate', runId, '--to', '1.1.0', '--json', ...data], at)
  const keyOf = async (email: string) =>
    (await svcJson<{ secret: string }>(['keys', 'create', '--operator', '--email', email, ...data], at)).secret
  const [ana, ben] = [await keyOf('ana@acme.example'), await keyOf('ben@acme.example')]
  const runs = [await waiting(), await waiting(), await waiting(), await waiting()]
  await harbour.publishTighter()
  const versions: string[] = []
  for (const [index, runId] of runs.entries()) {
    const place = index % 2 === 0 ? 'before' : 'after'
    const mortal = await harbour.serve(`commit.${place}:${1 + Math.floor(index / 2)}`)
    const moved = await migrate(runId)
    if (moved.code === 0) await mortal.stop('SIGKILL')
    expect(await mortal.died).toBe('SIGKILL')
    const server = await harbour.serveHere()
    const api = customer(server, harbour.access)
    const { versionLabel } = await svcJson<RunView>(['runs', 'get', runId, ...data], at)
    versions.push(versionLabel)
    // Of the version that it has: nothing was paid yet, and one approval is enough for the old one only.
    expect(harbour.payments).not.toContain(runId)
    const { items } = await svcJson<{ items: InboxItem[] }>(['inbox', ...data], at)
    const { userTaskId, argsDigest } = items.find((each) => each.runId === runId)!
    const approveAs = (key: string) =>
      svcJson(['approve', userTaskId!, '--args-digest', argsDigest!, ...data], {
        ...at,
        env: { SVC_OPERATOR_KEY: key },
      })
    await approveAs(ana)
    const isAskedAgain = (await api.run(runId)).status === 'WaitingForHITL'
    expect([versionLabel, isAskedAgain, isAskedAgain && harbour.payments.includes(runId)]).toEqual([
      versionLabel,
      versionLabel === '1.1.0',
      false,
    ])
    if (isAskedAgain) await approveAs(ben)
    expect(await drive(server, runId)).toMatchObject({ status: 'Completed' })
    expect(harbour.payments.filter((each) => each === runId)).toHaveLength(1)
    const again = await migrate(runId)
    expect([versionLabel, again.code, `${again.stdout}${again.stderr}`.includes('it has ended')]).toEqual(
      versionLabel === '1.1.0' ? ['1.1.0', 0, false] : ['1.0.0', 6, true],
    )
    await server.stop('SIGTERM')
  }
  expect(new Set(versions)).toEqual(new Set(['1.0.0', '1.1.0']))
})
