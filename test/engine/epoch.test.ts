/**
 * What the epoch of a lease is for. A process that lost its session and takes it again holds a lease that lasts, while a request
 * that it began before still waits for its connection, and the session was not yet read again, which would call the request off.
 * Only the epoch tells that the request belongs to the earlier lease.
 */
import { expect, test } from 'vitest'
import type { SessionId } from '../../src/base/ids.ts'
import { openDatabase } from '../../src/store/sqlite/database/database.ts'
import { createSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { operator, publish, returns, snapshotOf, startOf, tool, turns, WORKSPACE } from './bench.ts'
import { openMember, type OutsideWorld } from './cluster/member.ts'
import { createProcess, type VirtualProcess } from './cluster/process.ts'
import { WEAKNESSES, type Weakness } from './cluster/weaknesses.ts'
import { createWorld } from './cluster/world.ts'

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Longer than a lease, and than the time in which the bytes of a call may still arrive. */
const LONG_MS = 80_000

/** @returns how often each attempt of the payment was made */
async function loseAndTakeAgain({ store: weaken }: Weakness): Promise<readonly string[]> {
  const world = createWorld(1)
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1000) {
      world.tick(1000)
      await turns(12)
    }
  }
  const db = openDatabase(':memory:')
  const plain = createSqliteStore(db, { now: () => world.now(), monotonic: () => world.now() })
  await publish(plain, [
    snapshotOf({ name: 'root', tools: [tool('post', { sideEffectClass: 'non_idempotent_write' })] }),
  ])

  const made: string[] = []
  const connection = createGate()
  let isReading = Promise.resolve()
  let first: VirtualProcess | undefined
  const outside: OutsideWorld = {
    connect: (process) => (process === first && made.length === 0 && asked > 0 ? connection.opened : Promise.resolve()),
    async complete() {
      asked++
      return {
        text: '',
        finishReason: 'tool_calls',
        calls: [{ id: 'c1', name: 'post', arguments: {} }],
        usage: { inputTokens: 1, outputTokens: 1 },
      }
    },
    async invoke(process, _, { attempt }) {
      made.push(`${process.name}, attempt ${attempt}`)
      // Nobody hears whether it was made.
      await new Promise(() => {})
      return returns({})
    },
    heldBack: () => {},
  }
  let asked = 0
  const faults = { slow: 0, lostReply: 0, lostHint: 1 }
  const shared = weaken?.(plain, db) ?? plain
  const slowReader: Store = {
    ...shared,
    async load(...given) {
      await isReading
      return shared.load(...given)
    },
  }
  const open = async (name: string, store: Store, seed: number) => {
    const process = createProcess(name, world, store, faults, () => {})
    const member = openMember(process, { world, outside, seed })
    await turns(4)
    return member
  }

  const one = await open('first', slowReader, 1)
  first = one.process
  await one.engine!.start(startOf('root'))
  await pass(1000)
  // Its call waits for a connection when it freezes. Another process takes the session, and an operator lets it call again.
  one.process.freeze()
  await pass(LONG_MS)
  const two = await open('second', shared, 2)
  await pass(5000)
  const [session] = (await plain.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items
  const id = session!.id as SessionId
  const [task] = await plain.pendingTasks(id)
  await two.engine!.answer(task!.runId, { taskId: task!.id, by: operator(), selectedOptionId: 'retry' })
  await pass(2000)
  expect(made).toEqual(['second, attempt 2'])
  // That one ends, and the first, awake again, takes the session back: before it has read what happened, its connection opens.
  two.process.crash()
  await pass(LONG_MS)
  const reading = createGate()
  isReading = reading.opened
  one.process.thaw()
  await pass(10_000)
  connection.open()
  await turns(20)
  reading.open()
  await pass(2000)
  one.process.crash()
  return made
}

test('a request of an earlier lease does not leave under a later one of the same process', async () => {
  expect(await loseAndTakeAgain({})).toEqual(['second, attempt 2'])
})

test('without the epoch it leaves, and what happened once happens twice', async () => {
  expect(await loseAndTakeAgain(WEAKNESSES['no epoch'])).toEqual(['second, attempt 2', 'first, attempt 1'])
})
