/** Sessions that stay in memory while they wait for their client. Source: docs/design/gate.md#what-a-call-costs */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentIdOf, type SessionId } from '../../src/base/ids.ts'
import { createRestingSessions } from '../../src/engine/drive/resting-sessions.ts'
import type { ClientCallAnswer } from '../../src/engine/interface/client-call.ts'
import type { LiveSession } from '../../src/engine/session/live-session.ts'
import type { SessionStore } from '../../src/store/session-store.ts'
import { cases } from '../cases.ts'
import { key, openBench, operator, policy, returns, snapshotOf, startOf, tool, WORKSPACE, type Bench } from './bench.ts'

const desk = snapshotOf({
  name: 'desk',
  model: { provider: 'external', name: 'client' },
  tools: [tool('look'), tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [
    { on: ['pay'], entry: policy('pay', { obligations: { timeout: { after_minutes: 60, default: 'deny' } } }) },
  ],
})

/** @param loads is told of each session that is read as a whole */
const openGate = (loads: SessionId[] = []): Promise<Bench> =>
  openBench({
    agents: [desk],
    models: {},
    tools: { look: () => returns('seen'), pay: () => returns({ paid: true }) },
    store: (store) => ({
      ...store,
      load: (id) => {
        loads.push(id)
        return store.load(id)
      },
    }),
  })

const make = (bench: Bench, callId: string, wire: string, conversation = 'c-1'): Promise<ClientCallAnswer> =>
  bench.engine.gate.callTool(
    {
      workspaceId: WORKSPACE,
      agentId: agentIdOf('test', 'acme.desk'),
      principal: key('k1', 'desk'),
      conversation,
      callId,
      tool: wire,
      arguments: {},
      limits: startOf('desk').limits,
    },
    { signal: AbortSignal.timeout(5000), leavesForPerson: true },
  )

test('a session that waits for its client is not read again for the next call', async () => {
  const loads: SessionId[] = []
  const bench = await openGate(loads)
  await make(bench, 'a', 'look')
  loads.length = 0
  for (const callId of ['b', 'c', 'd']) expect(await make(bench, callId, 'look')).toMatchObject({ at: 'settled' })
  expect(loads).toEqual([])
})

test('one that a person is asked about costs no memory', async () => {
  const loads: SessionId[] = []
  const bench = await openGate(loads)
  const { sessionId } = await make(bench, 'a', 'pay')
  await new Promise(setImmediate)
  loads.length = 0
  await make(bench, 'b', 'look')
  expect(new Set(loads)).toEqual(new Set([sessionId]))
})

const anyRequest = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('look', 'pay'), id: fc.nat(9), of: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('approve', 'reject', 'idle', 'cancel', 'title') }) },
)
type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer T> ? T : never

/** What clients were answered and what is stored, after these requests. @param forgets true for a process that has just begun, each time */
async function live(requests: readonly AnyRequest[], forgets: boolean): Promise<unknown> {
  const bench = await openGate()
  const answers: unknown[] = []
  const sessionsOf = async () => (await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 9 })).items
  for (const request of requests) {
    if (forgets) await bench.restart()
    const sessions = await sessionsOf()
    if ('of' in request) {
      const id = `${request.do}${request.id}`
      answers.push(await make(bench, id, request.do, `c-${request.of}`).catch(({ message }: Error) => message))
    } else if (request.do === 'idle') await bench.advance(3600_000)
    else if (request.do === 'title' && sessions[0]) await bench.store.labelSession(sessions[0].id, { title: 'Ours' })
    else if (request.do === 'cancel' && sessions[0])
      await bench.engine.cancel(sessions[0].rootRunId, operator()).catch(({ message }: Error) => answers.push(message))
    else
      for (const { id } of sessions)
        for (const task of await bench.store.pendingTasks(id))
          await bench.engine.answer(task.runId, {
            taskId: task.id,
            by: operator(),
            approved: request.do === 'approve',
            metadata: { 'svc/arguments_digest': task.argumentsDigest ?? '' },
          })
    while (bench.busySessions().length > 0) await new Promise(setImmediate)
  }
  const stored = await sessionsOf()
  const runs = await Promise.all(stored.map(async ({ id }) => bench.store.runsOfSession(id)))
  const timelines = await Promise.all(runs.flat().map(({ id }) => bench.timeline(id)))
  // Two sessions whose timers are due together end in any order, which their ids show.
  const steps = timelines
    .flat()
    .map(({ content: { event_id: _eventId, ...content }, ...step }) => ({ ...step, content }))
  return { answers, stored, runs, steps }
}

test('histories leave the same rows and answers as in processes that remember nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRequest, { minLength: 2, maxLength: 10 }), async (requests) => {
      expect(await live(requests, false)).toEqual(await live(requests, true))
    }),
    { numRuns: cases(60) },
  )
})

/** A session that waits for its client, with one step of so many characters. */
const waiting = (version: number, chars = 1): LiveSession =>
  ({
    tree: { session: { version }, runs: [{ state: { at: 'thinking', outside: 0 } }], tasks: [] },
    steps: new Map([['run', [{ content: 'x'.repeat(chars) }]]]),
    isHeld: false,
  }) as unknown as LiveSession

const storing = (version: number, title: string): SessionStore =>
  ({ session: () => Promise.resolve({ version, title }) }) as unknown as SessionStore
const [ONE, TWO] = ['one', 'two'] as SessionId[] as [SessionId, SessionId]

test('one that somebody has changed meanwhile is read again', async () => {
  const resting = createRestingSessions(storing(8, 'Ours'))
  resting.keep(ONE, waiting(7))
  resting.keep(TWO, waiting(8))
  expect(await resting.take(ONE)).toBeUndefined()
  expect(await resting.take(TWO)).toMatchObject({ tree: { session: { version: 8, title: 'Ours' } } })
  expect(await resting.take(TWO)).toBeUndefined()
})

test('where the sessions that wait are too large, those that rest longest are forgotten', async () => {
  const resting = createRestingSessions(storing(1, 'Ours'), 1000)
  resting.keep(ONE, waiting(1, 600))
  resting.keep(TWO, waiting(1, 600))
  expect(await resting.take(ONE)).toBeUndefined()
  expect(await resting.take(TWO)).toBeDefined()
  const many = createRestingSessions(storing(1, 'Ours'))
  many.keep(TWO, waiting(1))
  for (let at = 0; at < 1000; at++) many.keep(`s${at}` as SessionId, waiting(1))
  expect(await many.take(TWO)).toBeUndefined()
  resting.keep(ONE, waiting(1, 1100))
  expect(await resting.take(ONE)).toBeUndefined()
})
