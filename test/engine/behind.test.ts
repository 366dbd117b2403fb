/**
 * A process whose memory of a session is behind: it was frozen while another took the session and changed it, and no hint reaches
 * it. What it answers to a request is true of what is stored.
 */
import { expect, test } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import type { ModelCall } from '../../src/providers/provider.ts'
import type { MessageAccepted } from '../../src/spec/api.ts'
import { openDatabase } from '../../src/store/sqlite/database/database.ts'
import { createSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { builtin, key, operator, publish, returns, snapshotOf, startOf, tool, turns, WORKSPACE } from './bench.ts'
import { openMember, type ClusterMember, type OutsideWorld } from './cluster/member.ts'
import { createProcess } from './cluster/process.ts'
import { createWorld } from './cluster/world.ts'

/** Longer than a lease, and than the time in which the bytes of a call may still arrive. */
const LONG_MS = 80_000
/** One answer looks at its task a few times at most. */
const MOST_READS = 20

const CALLS: readonly ModelCall[] = [
  { id: 'c1', name: 'post', arguments: {} },
  { id: 'c2', name: 'ask_user', arguments: { message: 'Where to?' } },
]

interface Behind {
  /** Frozen while the other took the session, and awake again. */
  readonly one: ClusterMember
  /** Holds the session. */
  readonly two: ClusterMember
  readonly store: Store
  readonly session: SessionId
  readonly run: RunId
  pass(ms: number): Promise<void>
}

/** @param until lets the other process go on until the session waits for what the test is about */
async function fallBehind(until: (behind: Behind) => Promise<unknown>): Promise<Behind> {
  const world = createWorld(1)
  const db = openDatabase(':memory:')
  const plain = createSqliteStore(db, { now: () => world.now(), monotonic: () => world.now() })
  const tools = [tool('post', { sideEffectClass: 'non_idempotent_write' }), builtin('ask_user')]
  await publish(plain, [snapshotOf({ name: 'root', tools })])
  let reads = 0
  const store: Store = {
    ...plain,
    task(id) {
      // Without a time to wait for, a loop that looks again and again would never end, and no test would either.
      if (++reads > MOST_READS) throw new Error('The task was read again and again.')
      return plain.task(id)
    },
  }
  const outside: OutsideWorld = {
    connect: () => Promise.resolve(),
    complete: (_, { run }) =>
      Promise.resolve({
        text: '',
        finishReason: 'tool_calls',
        calls: [CALLS[run.turn - 1]!],
        usage: { inputTokens: 1, outputTokens: 1 },
      }),
    async invoke() {
      // Nobody hears whether it was made.
      await new Promise(() => {})
      return returns({})
    },
    heldBack: () => {},
  }
  const open = async (name: string, seed: number): Promise<ClusterMember> => {
    const process = createProcess(name, world, store, { slow: 0, lostReply: 0, lostHint: 1 }, () => {})
    const member = openMember(process, { world, outside, seed })
    await turns(4)
    return member
  }
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1000) {
      world.tick(1000)
      await turns(12)
    }
  }

  const one = await open('first', 1)
  const { runId } = await one.engine!.start(startOf('root'))
  await pass(1000)
  one.process.freeze()
  await pass(LONG_MS)
  const two = await open('second', 2)
  await pass(5000)
  const [session] = (await plain.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items
  const behind: Behind = { one, two, store: plain, session: session!.id, run: runId as RunId, pass }
  await until(behind)
  one.process.thaw()
  return behind
}

async function review({ store, session, run }: Behind, { engine }: ClusterMember): Promise<MessageAccepted> {
  const [task] = await store.pendingTasks(session)
  return engine!.answer(run, { taskId: task!.id, by: operator(), selectedOptionId: 'happened', textValue: '{}' })
}

test('takes the answer to a task that another process has opened', async () => {
  const behind = await fallBehind(() => Promise.resolve())
  const accepted = await review(behind, behind.one)
  expect(accepted).toEqual({ status: 'Running', userTaskId: accepted.userTaskId, pending: [] })
  expect(await behind.store.pendingTasks(behind.session)).toEqual([])
})

test('takes the reply to a question that another process has put', async () => {
  const behind = await fallBehind(async (now) => {
    await review(now, now.two)
    await now.pass(3000)
  })
  expect((await behind.store.run(behind.run))!.status).toBe('WaitingForResponse')
  const accepted = await behind.one.engine!.answer(behind.run, { text: 'Oslo', by: key('k1') })
  expect(accepted).toEqual({ status: 'Running', pending: [] })
})
