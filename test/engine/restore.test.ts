/** A backup is taken at any moment of a run, which then goes on to its end; what is restored repeats nothing by itself. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { readForkSource } from '../../src/engine/fork.ts'
import type { ResumeRequest } from '../../src/engine/interface/engine.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { findChainOffence } from '../store/verify-chain.ts'
import { holdRestoredWork } from '../../src/store/sqlite/sessions/hold-restored.ts'
import type { Store } from '../../src/store/store.ts'
import {
  inOrder,
  key,
  openBench,
  operator,
  policy,
  returns,
  snapshotOf,
  startOf,
  T0,
  tool,
  turns,
  WORKSPACE,
  type Bench,
  type BenchSpec,
  type ModelReply,
} from './bench.ts'
import { removeDirectory } from '../remove-directory.ts'

const DAY = 24 * 3600_000
const MINUTE = 60_000

const directories: string[] = []
afterEach(() => directories.splice(0).forEach((path) => removeDirectory(path)))
function newPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  directories.push(directory)
  return join(directory, 'data.db')
}

const gate = policy('gate', { obligations: { timeout: { after_minutes: 30, default: 'allow' } } })
const root = snapshotOf({
  name: 'root',
  tools: [
    tool('look'),
    tool('put', { sideEffectClass: 'idempotent_write' }),
    tool('post', { sideEffectClass: 'non_idempotent_write' }),
    tool('pay', { sideEffectClass: 'irreversible_action' }),
  ],
  policies: [{ on: ['pay'], entry: gate }],
  limits: { max_wall_clock_seconds: 30 * 24 * 3600 },
})

/** What has left for the world, in the order of its leaving: `model` or the idempotency key of a call. */
type Ledger = string[]

const specOf = (ledger: Ledger): BenchSpec => {
  const happen = ({ idempotencyKey }: { idempotencyKey: string }) => {
    ledger.push(idempotencyKey)
    return returns('done')
  }
  const script = inOrder(
    { calls: [{ name: 'look' }, { name: 'put', args: { k: 1 } }] },
    { calls: [{ name: 'post', args: { text: 'x' } }] },
    { calls: [{ name: 'pay', args: { amount: 5 } }] },
    'All done.',
  )
  return {
    agents: [root],
    models: {
      root: (request, signal) => {
        ledger.push('model')
        return script(request, signal)
      },
    },
    tools: { look: happen, put: happen, post: happen, pay: happen },
  }
}

/** Brings a run to its end; people approve, and say of an unknown outcome what the ledger says. */
async function finish(
  bench: Bench,
  session: SessionId,
  ledger: Ledger,
  backedUp: () => Promise<void> = async () => {},
): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await turns()
    await backedUp()
    await turns()
    if ((await bench.store.session(session))!.finishedAt !== null) return
    for (const task of await bench.store.tasksOfSession(session)) {
      if (task.status !== 'pending') continue
      const happened = ledger.includes(task.context?.['idempotency_key'] as string)
      await bench.engine.answer(task.runId, {
        taskId: task.id,
        ...(task.kind === 'anomaly_review'
          ? { selectedOptionId: happened ? 'happened' : 'skip', textValue: 'seen', by: operator() }
          : { approved: true, by: key() }),
      })
    }
  }
  throw new Error('The run does not end.')
}

interface Backup {
  readonly path: string
  readonly session: SessionId
  readonly run: RunId
  /** What left from its start to its end. */
  readonly ledger: Ledger
}

/** Backs up when the `border`-th write is durable, and lets the run end. Undefined where there is no such write. */
async function backUp(border: number): Promise<Backup | undefined> {
  const ledger: Ledger = []
  const path = newPath()
  let writes = 0
  let taken = false
  let backingUp = Promise.resolve()
  const counted = async <T>(store: Store, work: () => Promise<T>): Promise<T> => {
    const value = await work()
    if (++writes === border) {
      backingUp = store.backup(path)
      await backingUp
      taken = true
    }
    return value
  }
  const bench = await openBench({
    ...specOf(ledger),
    store: (store) => ({
      ...store,
      start: (...given) => counted(store, () => store.start(...given)),
      save: (...given) => counted(store, () => store.save(...given)),
    }),
  })
  const run = await bench.start('root')
  const session = (await bench.store.run(run))!.sessionId
  await finish(bench, session, ledger, () => backingUp)
  await bench.engine.close()
  return taken ? { path, session, run, ledger } : undefined
}

test('holds restored runs of any moment until they are released, and then finishes them', async () => {
  let border = 1
  for (let backup = await backUp(border); backup; backup = await backUp(++border)) {
    const { path, session, run, ledger } = backup
    const wasOpen = holdRestoredWork(path, T0, T0).runs === 1
    const bench = await openBench({ ...specOf(ledger), path })
    const before = [...ledger]
    const stored = await bench.store.session(session)
    await bench.engine.recover()
    await bench.advance(DAY)
    expect([border, ledger]).toEqual([border, before])
    expect([border, await bench.store.session(session)]).toEqual([border, stored])
    expect([border, await findChainOffence(bench.store, session)]).toEqual([border, undefined])
    expect(await bench.store.restored(WORKSPACE)).toEqual({ sessions: wasOpen ? [session] : [], triggers: [] })
    await bench.engine.release([session], [])
    await finish(bench, session, ledger)
    expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'All done.' })
    expect([border, await findChainOffence(bench.store, session)]).toEqual([border, undefined])
    await bench.engine.close()
  }
  // Each completion and each call has its writes.
  expect(border).toBeGreaterThan(10)
})

test('sends an unsafe call again without review if restored runs are not held: the test notices', async () => {
  let doubled = 0
  let border = 1
  for (let backup = await backUp(border); backup; backup = await backUp(++border)) {
    const { path, ledger } = backup
    const bench = await openBench({ ...specOf(ledger), path })
    await bench.engine.recover()
    await turns()
    const posts = bench.invoked.filter(({ tool: { wire } }) => wire === 'post')
    if (posts.some(({ idempotencyKey }) => ledger.filter((each) => each === idempotencyKey).length > 1)) doubled++
    await bench.engine.close(0)
  }
  expect(doubled).toBeGreaterThan(0)
})

test('opens a review, once released, for an unsafe call that was in flight in the backup', async () => {
  let border = 1
  let reviews = 0
  for (let backup = await backUp(border); backup; backup = await backUp(++border)) {
    const { path, session, ledger } = backup
    holdRestoredWork(path, T0, T0)
    const bench = await openBench({ ...specOf(ledger), path })
    const { calls } = { calls: await bench.store.calls({ sessionId: session }) }
    const underWay = calls.filter(({ state, ref }) => state === 'sent' && (ref === 'acme.post' || ref === 'acme.pay'))
    await bench.engine.release([session], [])
    await turns()
    const tasks = (await bench.store.tasksOfSession(session)).filter(({ kind }) => kind === 'anomaly_review')
    expect(tasks.map(({ callId }) => callId)).toEqual(underWay.map(({ callId }) => callId))
    reviews += tasks.length
    await bench.engine.close(0)
  }
  expect(reviews).toBe(2)
})

test('accepts answers and a cancel for a held run, and sends nothing', async () => {
  const ledger: Ledger = []
  const path = newPath()
  const first = await openBench(specOf(ledger))
  const run = await first.start('root')
  await first.waitForTask(run)
  await first.store.backup(path)
  await first.engine.close(0)
  holdRestoredWork(path, T0, T0)
  const before = [...ledger]
  const bench = await openBench({ ...specOf(ledger), path })
  await bench.engine.recover()
  const { sessionId } = (await bench.store.run(run))!
  const [task] = await bench.store.tasksOfSession(sessionId)
  expect(await bench.engine.answer(run, { taskId: task!.id, approved: true, by: key() })).toEqual({
    status: 'Running',
    userTaskId: task!.id,
    pending: [],
  })
  await turns()
  expect(ledger).toEqual(before)
  expect(await bench.engine.cancel(run, operator())).toEqual({ runId: run, status: 'Cancelled' })
  await bench.engine.release([sessionId], [])
  await turns()
  expect(ledger).toEqual(before)
})

/** An operator has checked what happened after the backup, so that no call asks because of it. */
const NOTHING_ASKED = { at: T0, asksUntil: T0 }

const HOLD = { reason: 'restored', since: new Date(T0 + DAY).toISOString() }

test('tells the readers of a run that it is held, and that it goes on', async () => {
  const never = new Promise<never>(() => {})
  const path = newPath()
  const first = await openBench({ ...timedSpec(), models: { timed: () => never } })
  const run = await first.start('timed')
  await turns()
  await first.store.backup(path)
  await first.engine.close(0)
  holdRestoredWork(path, T0 + DAY, T0)
  const bench = await openBench({ ...timedSpec(), models: { timed: () => never }, path })
  await bench.engine.recover()
  await bench.advance(DAY + MINUTE)
  const { sessionId } = (await bench.store.run(run))!
  const told = async () =>
    (await bench.store.events(sessionId, 0, 100)).flatMap(({ seq, subject, data }) =>
      subject.startsWith('engine.run.') ? [{ seq, subject, data }] : [],
    )
  const data = { sessionId, runId: run, status: 'Running', output: null, error: null }
  const lastSeq = (await bench.store.session(sessionId))!.lastSeq
  const paused = { seq: lastSeq, subject: 'engine.run.paused', data: { ...data, hold: HOLD } }
  expect((await told()).slice(1)).toEqual([paused])
  await bench.engine.release([sessionId], [])
  await turns()
  expect((await told()).slice(2)).toEqual([{ seq: lastSeq + 1, subject: 'engine.run.resumed', data }])
  await bench.engine.close(0)
})

test('a held run whose question is answered is told of as paused, until its release', async () => {
  const { bench, run, session } = await restoreWaiting()
  const [task] = await bench.store.tasksOfSession(session)
  const from = (await bench.store.session(session))!.lastSeq
  await bench.engine.answer(run, { taskId: task!.id, approved: true, by: key() })
  await turns()
  const told = async () =>
    (await bench.store.events(session, from, 100)).flatMap(({ subject, data: { hold } }) =>
      /^engine\.run\.(?:paused|resumed)$/.test(subject) ? [[subject, hold]] : [],
    )
  expect(await told()).toEqual([['engine.run.paused', HOLD]])
  await bench.engine.release([session], [], NOTHING_ASKED)
  await turns()
  expect(await told()).toEqual([
    ['engine.run.paused', HOLD],
    ['engine.run.resumed', undefined],
  ])
})

const timed = snapshotOf({
  name: 'timed',
  tools: [tool('look'), tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [{ on: ['pay'], entry: policy('gate', {}) }],
  limits: { max_wall_clock_seconds: 60, max_hitl_wait_minutes: 10 },
})
const timedSpec = (): BenchSpec => ({
  agents: [timed],
  models: { timed: inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'pay' }] }, 'Paid.') },
  tools: { look: () => returns('seen'), pay: () => returns('paid') },
})

/** A backup of a run that has waited five of its ten minutes, restored a day later and held for two hours more. */
async function restoreWaiting(): Promise<{ bench: Bench; run: RunId; session: SessionId }> {
  const path = newPath()
  const first = await openBench(timedSpec())
  const run = await first.start('timed')
  await first.waitForTask(run)
  await first.advance(5 * MINUTE)
  await first.store.backup(path)
  await first.engine.close(0)
  holdRestoredWork(path, T0 + DAY, T0 + 5 * MINUTE)
  const bench = await openBench({ ...timedSpec(), path })
  await bench.engine.recover()
  await bench.advance(DAY + 120 * MINUTE)
  return { bench, run, session: (await bench.store.run(run))!.sessionId }
}
test('neither the time since the backup nor the hold counts against what a run may wait and work', async () => {
  const { bench, run, session } = await restoreWaiting()
  await bench.engine.release([session], [])
  await bench.advance(4 * MINUTE)
  expect(await bench.store.run(run)).toMatchObject({ status: 'WaitingForHITL', usage: { waitedMs: 0 } })
  await bench.advance(2 * MINUTE)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_hitl_wait_minutes of 10 is reached: 10 used.',
  })
})

test('what is answered during a hold has waited only until the backup, and works on after its release', async () => {
  const { bench, run, session } = await restoreWaiting()
  const [task] = await bench.store.tasksOfSession(session)
  await bench.engine.answer(run, { taskId: task!.id, approved: true, by: key() })
  await bench.advance(30 * MINUTE)
  await bench.engine.release([session], [], NOTHING_ASKED)
  await turns()
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Completed',
    output: 'Paid.',
    usage: { waitedMs: 5 * MINUTE },
  })
})

test('a run that was working when it was backed up has the rest of its wall clock after its release', async () => {
  const path = newPath()
  const never = new Promise<never>(() => {})
  const spec = (model: BenchSpec['models']): BenchSpec => ({ ...timedSpec(), ...(model && { models: model }) })
  const first = await openBench(spec({ timed: () => never }))
  const run = await first.start('timed')
  await turns()
  await first.advance(20_000)
  await first.store.backup(path)
  await first.engine.close(0)
  holdRestoredWork(path, T0 + DAY, T0 + 20_000)
  const bench = await openBench({ ...spec({ timed: () => never }), path })
  await bench.engine.recover()
  await bench.advance(DAY + 120 * MINUTE)
  await bench.engine.release([(await bench.store.run(run))!.sessionId], [])
  await bench.advance(39_000)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Running' })
  await bench.advance(2_000)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'limit_exceeded' })
  await bench.engine.close(0)
})

const held = snapshotOf({
  name: 'desk',
  tools: [
    tool('look'),
    tool('book', {
      sideEffectClass: 'non_idempotent_write',
      labels: { 'svc/undone-by': 'acme.unbook', 'svc/undo-arguments': '{"booking": "{result.id}"}' },
    }),
    tool('unbook', { sideEffectClass: 'non_idempotent_write' }),
    tool('put', { sideEffectClass: 'idempotent_write', labels: { 'svc/effect-key': 'put:{args.k}' } }),
  ],
})
const gone = new ProviderError('The model is gone.', { status: 401, retryable: false })

/** A store in which one run booked something and failed, backed up, restored a day later. */
async function restoreEnded(then: BenchSpec['models'] = {}) {
  const path = newPath()
  const tools = {
    look: () => returns('seen'),
    book: () => returns({ id: 'b1' }),
    unbook: () => returns('off'),
    put: () => returns('put'),
  }
  const first = await openBench({
    agents: [held],
    models: { desk: inOrder({ calls: [{ name: 'book', args: { room: 1 } }] }, gone) },
    tools,
  })
  const run = await first.start('desk')
  await turns()
  expect(await first.store.run(run)).toMatchObject({ status: 'Failed' })
  await first.store.backup(path)
  await first.engine.close(0)
  expect(holdRestoredWork(path, T0 + DAY, T0)).toEqual({ runs: 0, triggers: 0 })
  let asked = 0
  const models: BenchSpec['models'] = Object.fromEntries(
    Object.entries({ desk: inOrder('Started.', 'Went on.'), ...then }).map(([name, model]) => [
      name,
      (request, signal) => {
        asked++
        return model(request, signal)
      },
    ]),
  )
  const bench = await openBench({ agents: [held], models, tools, path })
  await bench.advance(DAY + MINUTE)
  const session = (await bench.store.run(run))!.sessionId
  const left = () => [asked, ...bench.invoked.map(({ tool: { wire } }) => wire)]
  const release = async (asksUntil = bench.clock.now() + DAY) => {
    const { sessions, triggers } = await bench.store.restored(WORKSPACE)
    await bench.engine.release(sessions, triggers, { at: bench.clock.now(), asksUntil })
    await turns()
  }
  const tasks = async () =>
    (await bench.store.tasks({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })).items.map(({ tool: of, reason }) => [
      of?.ref,
      reason,
    ])
  return { bench, run, session, left, release, tasks }
}

type EndedStore = Awaited<ReturnType<typeof restoreEnded>>

/** What an operator may do on a store in which every run has ended. Add a verb here when it makes effects leave. */
const VERBS: readonly (readonly [string, (store: EndedStore) => Promise<unknown>])[] = [
  ['start', ({ bench }) => bench.start('desk')],
  ['continue', ({ bench, session }) => bench.start('desk', {}, { continued: { sessionId: session } })],
  [
    'retry',
    ({ bench, run, session }) => bench.start('desk', {}, { origin: { kind: 'retry', runId: run, sessionId: session } }),
  ],
  ['resume', ({ bench, run }) => bench.engine.resume(run, { by: operator() as ResumeRequest['by'] })],
  ['undo', ({ bench, run }) => bench.engine.undo(run, { by: operator() as ResumeRequest['by'] })],
  [
    'fork',
    async ({ bench, run }) =>
      bench.engine.fork(await readForkSource(bench.store, run), {
        at: 1,
        edits: [],
        version: (await bench.store.version((await bench.store.run(run))!.agentVersionId))!,
        by: operator() as ResumeRequest['by'],
        limits: startOf('desk').limits,
      }),
  ],
]

test.each(VERBS)('a store that is held sends nothing after a %s, and all of it after its release', async (_, act) => {
  const store = await restoreEnded()
  await act(store)
  await store.bench.advance(DAY + 2 * MINUTE)
  await store.bench.engine.recover()
  await turns()
  expect(store.left()).toEqual([0])
  await store.release(T0)
  expect(store.left()).not.toEqual([0])
  await store.bench.engine.close(0)
})

test.each(VERBS)('without a restore a %s sends at once: the test before notices', async (_, act) => {
  const store = await restoreEnded()
  await store.release(T0)
  await act(store)
  await turns()
  expect(store.left()).not.toEqual([0])
  await store.bench.engine.close(0)
})

test('an undo that may have been made after the backup asks a person', async () => {
  const { bench, run, left, release, tasks } = await restoreEnded()
  await release()
  await bench.engine.undo(run, { by: operator() as ResumeRequest['by'] })
  await turns()
  expect(left()).toEqual([0])
  expect(await tasks()).toEqual([['acme.unbook', 'after_restore']])
})

test('calls that may have been made after the backup ask until the time that the operator names, each once', async () => {
  const call = (name: string, args: object) => ({ calls: [{ name, args }] }) as ModelReply
  const { bench, left, release, tasks } = await restoreEnded({
    desk: inOrder(call('look', {}), call('put', { k: 1 }), call('book', { room: 2 }), 'Done.'),
  })
  await release(T0 + 2 * DAY)
  const run = await bench.start('desk')
  await turns()
  expect([left(), await tasks()]).toEqual([[2, 'look'], [['acme.put', 'after_restore']]])
  const [task] = (await bench.store.tasks({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items
  expect(task!.prompt).toBe(
    'after_restore: the call may have been made before: this server came from a backup, and does not know what happened from 2026-01-01T00:00:00.000Z to 2026-01-02T00:00:00.000Z.',
  )
  await bench.engine.answer(run, { taskId: task!.id, approved: true, by: key() })
  await turns()
  expect([left(), await tasks()]).toEqual([[3, 'look', 'put'], [['acme.book', 'after_restore']]])
  await bench.advance(2 * DAY)
  const later = await bench.start('desk')
  await turns()
  expect(await bench.store.run(later)).toMatchObject({ status: 'Completed', output: 'Done.' })
})

test('who approved a call of the backup without being told that it may have been made is asked again', async () => {
  const { bench, run, session } = await restoreWaiting()
  await bench.engine.release([session], [])
  await turns()
  const [task] = await bench.store.tasksOfSession(session)
  await bench.engine.answer(run, { taskId: task!.id, approved: true, by: key() })
  await turns()
  // Approved by somebody who was not told; so a person is asked again.
  expect((await bench.store.tasksOfSession(session)).map(({ status, reason }) => [status, reason])).toEqual([
    ['completed', 'because of gate'],
    ['pending', 'because of gate; after_restore'],
  ])
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual([])
})
