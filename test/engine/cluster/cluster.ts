/**
 * Three virtual processes over one store, with everything that goes wrong between them. The ledger counts what happened in the
 * world. A history follows from its seed alone.
 */
import type { SessionId } from '../../../src/base/ids.ts'
import type { CompletionRequest, ModelCall } from '../../../src/providers/provider.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import { isOperatorOnly, type GivenAnswer, type TaskRecord } from '../../../src/spec/task.ts'
import { openDatabase } from '../../../src/store/sqlite/database/database.ts'
import { createSqliteStore } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import {
  boundAgent,
  key,
  operator,
  overloaded,
  policy,
  publish,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
} from '../bench.ts'
import { watchCallMoves, type CallMoveWatch } from '../watch-call-moves.ts'
import { watchTimes } from './watch-times.ts'
import type { Engine } from '../../../src/engine/interface/engine.ts'
import { openMember, type ClusterMember, type OutsideWorld } from './member.ts'
import { createProcess, type Faults, type VirtualProcess } from './process.ts'
import type { Weakness } from './weaknesses.ts'
import { createWorld } from './world.ts'

const PROCESSES = 3
/** Rounds in which things go wrong, and rounds after which a run that has not ended is stuck. */
const FAULTY_ROUNDS = 40
const ROUNDS = 240

/** Clocks that are set right differ by this, and those that are not by one of these. */
const SKEW_MS = 900
const JUMPS_MS = [-3_600_000, -30_000, -3000, 3000, 30_000, 3_600_000]

const CLASSES: Readonly<Record<string, SideEffectClass>> = {
  look: 'read_only',
  put: 'idempotent_write',
  post: 'non_idempotent_write',
  pay: 'irreversible_action',
}
export const SAFE: ReadonlySet<string> = new Set(['look', 'put'])

export interface ClusterHistory {
  readonly db: ReturnType<typeof openDatabase>
  readonly store: Store
  readonly sessions: readonly SessionId[]
  /** How often something happened, by idempotency key; a safe write that honours its key happens once. */
  readonly ledger: ReadonlyMap<string, number>
  /** What went wrong, and how often, for the tests of the tests. */
  readonly counts: Readonly<Record<string, number>>
  readonly isCalm: boolean
  /** Processes that asked the store without end. */
  readonly endless: readonly string[]
  /** What was decided before its time, by the store's clock. */
  readonly untimely: readonly string[]
  readonly moves: CallMoveWatch
  /** What happened, in order: equal for equal seeds. */
  readonly trace: readonly string[]
}

const script: readonly (readonly (readonly [string, number])[])[] = [
  [
    ['look', 1],
    ['put', 2],
    ['post', 3],
    ['child', 0],
  ],
  [
    ['pay', 4],
    ['post', 5],
  ],
]

/** @param isCalm no process ends or freezes, and the store is fast: nobody has a reason to ask a person what became of a call */
export async function liveTogether(
  seed: number,
  { store: weaken, unguarded, deaf, ownTime }: Weakness = {},
  isCalm = false,
): Promise<ClusterHistory> {
  const world = createWorld(seed)
  const { chance } = world
  const db = openDatabase(':memory:')
  const plain = createSqliteStore(db, { now: () => world.now(), monotonic: () => world.now() })
  const untimely: string[] = []
  const moves = watchCallMoves()
  const watched = moves.watch(plain)
  const shared = watchTimes(weaken?.(watched, db) ?? watched, () => world.now(), untimely)
  const tools = Object.entries(CLASSES).map(([name, sideEffectClass]) => tool(name, { sideEffectClass }))
  const policies = [
    { on: ['pay'], entry: policy('one', { obligations: { timeout: { after_minutes: 1, default: 'deny' } } }) },
  ]
  const helper = snapshotOf({ name: 'child', tools, policies })
  const agent = snapshotOf({ name: 'root', tools, agents: [boundAgent(helper)], policies })
  await publish(plain, [agent, helper])

  const ledger = new Map<string, number>()
  const trace: string[] = []
  const counts: Record<string, number> = {}
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1)
  // Each history has faults of its own strength, so that some are found which another fault would hide.
  const strength = chance.next()
  const faults: Faults = { slow: 0.3 * strength, lostReply: 0.15 * chance.next(), lostHint: chance.next() }
  if (isCalm) Object.assign(faults, { slow: 0, lostReply: 0 })

  /** Whether connections take longer to open than a lease lasts. */
  let waits = chance.often(0.4)

  const outside: OutsideWorld = {
    connect: () => world.after(chance.often(waits ? 0.6 : 0.2) ? chance.int(0, waits ? 40 : 14) : 0),
    async complete(process, request) {
      trace.push(`${process.name} asks ${request.run.id} ${request.run.turn}`)
      await world.after(chance.int(0, 3))
      await process.pass()
      // The retry is a timer, which every process sees.
      if (chance.often(0.1)) throw overloaded
      return answerOf(request, agent.model.name)
    },
    async invoke(process, name, { idempotencyKey, attempt }) {
      if (name !== 'put' || !ledger.has(idempotencyKey))
        ledger.set(idempotencyKey, (ledger.get(idempotencyKey) ?? 0) + 1)
      trace.push(`${process.name} does ${name} ${idempotencyKey} ${attempt}`)
      await world.after(chance.int(0, 4))
      await process.pass()
      return returns({ done: name })
    },
    heldBack: () => count('held back'),
  }

  const members: (ClusterMember | undefined)[] = Array.from({ length: PROCESSES })
  const tellOthers = (from: VirtualProcess, sessions: readonly SessionId[]): void => {
    for (const each of members) if (each && each.process !== from) each.process.hint({ sessions, isFree: true })
  }

  const processes: VirtualProcess[] = []
  const open = (at: number): void => {
    const number = processes.length + 1
    const name = `worker ${number}`
    const process = createProcess(name, world, shared, faults, tellOthers)
    processes.push(process)
    process.setClock(chance.int(-SKEW_MS, SKEW_MS))
    const weak = { ...(unguarded && { unguarded }), ...(deaf && { deaf }), ...(ownTime && { ownTime }) }
    members[at] = openMember(process, { world, outside, seed: seed * 1000 + number, ...weak })
  }

  const up = (): { process: VirtualProcess; engine: Engine }[] =>
    members.flatMap((each) => {
      if (!each?.process.isAwake() || !each.engine) return []
      return [{ process: each.process, engine: each.engine }]
    })
  const sessionsNow = async (): Promise<SessionId[]> =>
    (await plain.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })).items.map(({ id }) => id)

  for (let at = 0; at < PROCESSES; at++) open(at)
  const wanted = chance.int(1, 2)
  /** Nobody answers in time. */
  const isUnattended = chance.often(0.2)
  const isCancelled = !isCalm && chance.often(0.2)
  let sessions: SessionId[] = []
  for (let round = 0; round < ROUNDS; round++) {
    if (round < FAULTY_ROUNDS) setClocks()
    if (round < FAULTY_ROUNDS && !isCalm) goWrong()
    else if (round === FAULTY_ROUNDS) {
      Object.assign(faults, { slow: 0, lostReply: 0, lostHint: 0 })
      waits = false
      members.forEach((each, at) => {
        if (!each?.process.isUp()) return open(at)
        each.process.thaw()
        each.process.setClock(chance.int(-SKEW_MS, SKEW_MS))
      })
    }
    world.tick(chance.int(0, 4000))
    await turns(chance.int(1, 12))
    sessions = await sessionsNow()
    if (sessions.length < wanted && (round % 5 === 0 || round >= FAULTY_ROUNDS)) {
      const starter = up()[0]
      if (starter) starter.engine.start(startOf('root')).catch(() => count('start failed'))
      continue
    }
    const ended = await Promise.all(sessions.map(hasEnded))
    if (round > FAULTY_ROUNDS && sessions.length >= wanted && ended.every(Boolean)) break
    for (const id of sessions) await decide(id)
    if (isCancelled && round === 20 && sessions[0] && up()[0]) {
      const { rootRunId } = (await plain.session(sessions[0]))!
      trace.push('cancel')
      chance
        .pick(up())
        .engine.cancel(rootRunId, operator())
        .catch(() => {})
    }
  }
  for (const each of members) each?.process.crash()
  moves.end()
  const endless = processes.flatMap((each) => (each.isEndless() ? [each.name] : []))
  return { db, store: plain, sessions, ledger, counts, isCalm, endless, untimely, moves, trace }

  /** Somebody sets the clock of a machine while it serves, wrong or right. */
  function setClocks(): void {
    const process = members[chance.int(0, PROCESSES - 1)]?.process
    if (!process || !chance.often(0.2)) return
    const aheadMs = chance.often(0.5) ? chance.int(-SKEW_MS, SKEW_MS) : chance.pick(JUMPS_MS)
    if (Math.abs(aheadMs) > SKEW_MS) count('clock set wrong')
    trace.push(`clock of ${process.name} ${aheadMs}`)
    process.setClock(aheadMs)
  }

  function goWrong(): void {
    const at = chance.int(0, PROCESSES - 1)
    const member = members[at]
    if (!member?.process.isUp()) {
      if (chance.often(0.3)) open(at)
      return
    }
    if (!member.process.isAwake()) {
      if (!chance.often(0.25)) return
      trace.push(`thaw ${member.process.name}`)
      member.process.thaw()
    } else if (chance.often(0.12 * strength + 0.03)) {
      count('crash')
      trace.push(`crash ${member.process.name}`)
      member.process.crash()
    } else if (chance.often(0.15)) {
      count('freeze')
      trace.push(`freeze ${member.process.name}`)
      member.process.freeze(chance.often(0.5))
    }
  }

  async function hasEnded(id: SessionId): Promise<boolean> {
    if ((await plain.session(id))!.finishedAt === null) return false
    return (await plain.pendingTasks(id)).length === 0
  }

  /** People decide at any process; an operator tells the truth about what happened. */
  async function decide(id: SessionId): Promise<void> {
    for (const task of await plain.pendingTasks(id)) {
      if (up().length === 0 || !chance.often(0.4)) continue
      if (isUnattended && task.kind === 'approval') continue
      const { engine } = chance.pick(up())
      const given: Partial<GivenAnswer> =
        task.kind === 'anomaly_review'
          ? review(task, ledger, chance.often(0.7))
          : { approved: true, metadata: { 'svc/arguments_digest': task.argumentsDigest! } }
      if (task.kind === 'anomaly_review') count(`review ${given.selectedOptionId}`)
      engine
        .answer(task.runId, { taskId: task.id, by: isOperatorOnly(task.kind) ? operator() : key(), ...given })
        .catch(() => count('answer failed'))
    }
  }
}

function review(task: TaskRecord, ledger: ReadonlyMap<string, number>, again: boolean): Partial<GivenAnswer> {
  if (ledger.has(task.context?.['idempotency_key'] as string))
    return { selectedOptionId: 'happened', textValue: '{"done":true}' }
  const canRetry = task.options!.some(({ id }) => id === 'retry')
  return { selectedOptionId: again && canRetry ? 'retry' : 'skip' }
}

function answerOf({ run, model }: CompletionRequest, root: string) {
  const asked = model.name === root ? script[run.turn - 1] : run.turn === 1 ? ([['post', 9]] as const) : undefined
  const calls = (asked ?? []).map(([name, n], index): ModelCall => ({
    id: `c${run.turn}_${index}`,
    name,
    arguments: name === 'child' ? { message: 'go' } : { n },
  }))
  return {
    text: calls.length > 0 ? '' : 'Done.',
    finishReason: calls.length > 0 ? ('tool_calls' as const) : ('stop' as const),
    calls,
    usage: { inputTokens: 1, outputTokens: 1 },
  }
}
