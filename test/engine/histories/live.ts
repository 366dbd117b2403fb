/** Lives a history by its plan. */
import { agentIdOf, versionIdOf, type RunId, type SessionId } from '../../../src/base/ids.ts'
import { UnsentError } from '../../../src/base/net/transport.ts'
import type { Principal } from '../../../src/spec/people/key.ts'
import { undoneCallOf } from '../../../src/spec/run/run.ts'
import { findPause, type PauseAct } from '../../../src/spec/steer/pause.ts'
import { isOperatorOnly, type GivenAnswer, type TaskRecord } from '../../../src/spec/task.ts'
import type { Store } from '../../../src/store/store.ts'
import { HELD_BACK } from '../../../src/tools/outcome.ts'
import {
  key,
  openBench,
  operator,
  overloaded,
  publish,
  returns,
  startOf,
  T0,
  turns,
  WORKSPACE,
  type Bench,
  type Model,
  type ModelReply,
} from '../bench.ts'
import { createCrashingProcess } from '../crashing-process.ts'
import { watchCallMoves, type CallMoveWatch } from '../watch-call-moves.ts'
import { agentsOf, type Weakness } from './agents.ts'
import { REPLIES, UNDONE, type HistoryPlan, type PlannedAct, type PlannedCall } from './plan.ts'

const ROUNDS = 300
/** The round in which every pause ends, if none did before. */
const LAST_PAUSED = 20
/** A budget that a lost completion has gone far beyond is granted again and again, but not for ever. */
const PATIENCE = 50

const olga = operator() as Extract<Principal, { type: 'operator' }>

export interface History {
  readonly bench: Bench
  readonly session: SessionId
  /** What happened in the world: how often, by idempotency key. */
  readonly effects: ReadonlyMap<string, number>
  /** Keys by what was called: `name arguments run`. */
  readonly sent: ReadonlyMap<string, readonly string[]>
  /** Calls that left for a run that had ended, or below one that had. */
  readonly tooLate: readonly string[]
  /** What began while it was paused. */
  readonly whilePaused: readonly string[]
  /** Calls that were reported twice, or that nobody could report. */
  readonly reported: readonly string[]
  readonly moves: CallMoveWatch
}

export async function liveHistory(plan: HistoryPlan, weakness: Weakness = {}): Promise<History> {
  const { root, child, completions, people, cancelled, acts, continues, resumes, undoes, crashes } = plan
  const world = createCrashingProcess(crashes)
  const moves = watchCallMoves()
  const effects = new Map<string, number>()
  const sent = new Map<string, string[]>()
  const tooLate: string[] = []
  const whilePaused: string[] = []
  const reported: string[] = []
  const tokens = new Map<string, string>()
  let pauses: readonly PauseAct[] = []
  /** Notes what begins although an operator was told that it does not. */
  const begins = (what: string, tool?: string): void => {
    const agents = ['acme.root']
    const target = tool === undefined ? { provider: 'scripted' } : { tool: `acme.${tool}` }
    if (findPause(pauses, { agents, versions: [], ...target })) whilePaused.push(what)
  }
  const { agent, helper, next, tools } = agentsOf(plan, weakness)
  const left = [...completions]
  const say = (calls: readonly PlannedCall[], turn: number): ModelReply => ({
    calls: calls.map(({ name, again, ...how }, at) => ({
      name,
      args: REPLIES[name] ?? { n: again ? 0 : turn * 10 + at, ...how },
    })),
  })
  const played =
    (script: readonly (readonly PlannedCall[])[]): Model =>
    ({ run, mayLeave }) =>
      world.send(() => {
        if (mayLeave?.() === false) return new UnsentError('Held back.', 'ERR_HELD_BACK', undefined)
        begins(`turn ${run.turn}`)
        switch (left.shift()) {
          case 'busy':
            return overloaded
          case 'breaks off':
            return { text: 'Half of', after: overloaded }
          case 'falls silent':
            return { text: 'Half of', after: 'silence' }
          default:
            return run.turn <= script.length ? say(script[run.turn - 1]!, run.turn) : 'Done.'
        }
      })
  const bench = await openBench({
    agents: [agent, helper],
    models: { root: played(root), child: played(child.length > 0 ? [child] : []) },
    tools: Object.fromEntries(
      tools.map(({ wire }) => [
        wire,
        ({ idempotencyKey, arguments: given, attempt, run, mayLeave, completionToken }) =>
          world.send(async () => {
            if (mayLeave?.() === false) return HELD_BACK
            begins(idempotencyKey, wire)
            if (completionToken !== undefined) tokens.set(idempotencyKey, completionToken)
            const { takes, answersAfter = 0, outcome, n } = given as unknown as PlannedCall & { n: number }
            if (await hasEnded(bench.store, run.id as RunId)) tooLate.push(idempotencyKey)
            await turns(takes)
            // Long enough for the run to be held.
            if (outcome === 'lost, then gone' && attempt > 1 && attempt < 8)
              return { at: 'not_sent', code: 'unreachable', error: 'Nobody listens there.' } as const
            if (outcome === 'never arrived') return { at: 'unknown', code: 'timeout', error: 'No answer.' } as const
            // Who is told that nothing was undone may ask for it again.
            if (wire === UNDONE.by && outcome === 'failed') return returns('Not now.', true)
            // The tool honours keys only where its class says that it does.
            if (wire !== 'put' || !effects.has(idempotencyKey))
              effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1)
            const named = `${wire} ${n} ${run.id}`
            sent.set(named, [...(sent.get(named) ?? []), idempotencyKey])
            await turns(answersAfter)
            if (outcome.startsWith('lost'))
              return { at: 'unknown', code: 'broken', error: 'The connection broke.' } as const
            return returns({ done: n }, outcome === 'failed')
          }),
      ]),
    ),
    store: (store) => ({
      ...world.wrap(moves.watch(store)),
      ...(weakness.isBlind && { pauses: () => Promise.resolve([]) }),
    }),
  })
  await publish(bench.store, [next])
  await bench.store.deploy(agentIdOf('test', agent.id), versionIdOf('test', agent.id, agent.digest), T0, 'test')
  const nextVersion = (await bench.store.version(versionIdOf('test', next.id, next.digest)))!
  let leftToUndo = undoes
  const opinions = [...people]
  const opinion = (): boolean => opinions.shift() ?? true
  let session: SessionId | undefined
  const play = async ({ act }: PlannedAct): Promise<void> => {
    const { engine, store } = bench
    const pause = (isPaused: boolean, kind: PauseAct['kind'], name: string) =>
      engine.setPaused(WORKSPACE, { kind, name, isPaused, at: bench.clock.now(), by: 'operator:olga', reason: null })
    const kind = act.slice('pause '.length) as PauseAct['kind']
    if (act === 'lift') {
      // From here on something may leave.
      pauses = []
      for (const { kind: of, name } of await store.pauses(WORKSPACE)) await pause(false, of, name)
    } else if (act.startsWith('pause '))
      await pause(
        true,
        kind,
        { all: '', agent: 'acme.root', tool: 'acme.post', provider: 'scripted', version: '' }[kind],
      )
    pauses = await store.pauses(WORKSPACE)
    const root = session && (await store.session(session))?.rootRunId
    if (act === 'report')
      for (const [key, token] of tokens) {
        const { duplicate } = await engine.complete(token, { result: { done: key } })
        if (!duplicate) reported.push(key)
      }
    if (root === undefined) return
    if (act === 'steer') await engine.answer(root, { text: 'Go on.', by: key(), steer: true })
    if (act === 'interrupt') await engine.answer(root, { text: 'No.', by: key(), steer: 'interrupt' })
    if (act === 'signal') await engine.signal(root, 'go', 7)
    if (act === 'migrate') await engine.migrate(root, { by: olga, version: nextVersion })
  }
  for (let round = 0; round < ROUNDS; round++) {
    let at = 0
    for (const each of acts.filter((one) => one.round === round).toSorted((a, b) => a.turn - b.turn)) {
      await turns(each.turn - at)
      at = each.turn
      if (!world.hasCrashed()) await play(each).catch(() => {})
    }
    await turns(20 - at)
    if (world.hasCrashed()) {
      world.restart()
      await bench.restart()
      pauses = await bench.store.pauses(WORKSPACE)
      continue
    }
    // What people stop goes on in the end.
    if (round >= LAST_PAUSED && (await bench.store.pauses(WORKSPACE)).length > 0)
      await play({ round, turn: 0, act: 'lift' }).catch(() => {})
    session ??= (await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items[0]?.id
    if (session === undefined) {
      await bench.engine.start(startOf('root')).catch(() => {})
      continue
    }
    const { finishedAt, rootRunId, status } = (await bench.store.session(session))!
    const undoing = (await bench.store.runsOfSession(session)).filter((run) => undoneCallOf(run) !== undefined)
    const isUndoing = undoing.some(({ state }) => state.at !== 'done')
    const left = (await bench.store.tasksOfSession(session)).some(({ status }) => status === 'pending')
    const ended = (await bench.store.run(rootRunId))!.usage.resumes ?? 0
    // Before what is unknown is reviewed, or after it.
    if (finishedAt !== null && status !== 'Completed' && ended < resumes && !isUndoing && (!left || opinion())) {
      await bench.engine.resume(rootRunId, { by: olga, grants: true }).catch(() => {})
      continue
    }
    if (finishedAt !== null && !left && !isUndoing && leftToUndo > 0) {
      const answered = await bench.engine.undo(rootRunId, { by: olga }).catch(() => undefined)
      // An operator who got no answer asks again.
      if (answered || !world.hasCrashed()) leftToUndo--
      continue
    }
    if (finishedAt !== null && !left && !isUndoing) {
      const roots = (await bench.store.runsOfSession(session)).filter(({ parentRunId }) => parentRunId === null)
      if (roots.length > continues) break
      await bench.engine.start(startOf('root', {}, { continued: { sessionId: session } })).catch(() => {})
      continue
    }
    await bench.advance(64_000)
    if (round === cancelled && !world.hasCrashed()) await bench.engine.cancel(rootRunId, operator()).catch(() => {})
    for (const task of await bench.store.tasksOfSession(session)) {
      if (task.status !== 'pending' || world.hasCrashed()) continue
      const given: Partial<GivenAnswer> =
        task.kind === 'anomaly_review'
          ? review(task, effects, opinion)
          : task.kind === 'aitl_escalation'
            ? { textValue: 'So.' }
            : { approved: opinion() && round < PATIENCE, metadata: { 'svc/arguments_digest': task.argumentsDigest! } }
      const isOperators = isOperatorOnly(task.kind) || undoing.some(({ id }) => id === task.runId)
      const by = isOperators ? operator() : task.approvalsRequired === 2 ? operator('ana') : key()
      await bench.engine.answer(task.runId, { taskId: task.id, by, ...given }).catch(() => {})
      if (task.approvalsRequired === 2)
        await bench.engine
          .answer(task.runId, {
            taskId: task.id,
            approved: opinion(),
            metadata: { 'svc/arguments_digest': task.argumentsDigest! },
            by: operator(),
          })
          .catch(() => {})
    }
    if ((await bench.store.run(rootRunId))!.status === 'WaitingForResponse' && !world.hasCrashed())
      await bench.engine.answer(rootRunId, { text: 'yes', by: key() }).catch(() => {})
  }
  moves.end()
  if (session === undefined) throw new Error('No run was ever accepted.')
  return { bench, session, effects, sent, tooLate, whilePaused, reported, moves }
}

/** True for a run that is not there to be told any more. */
const hasEnded = async (store: Store, run: RunId): Promise<boolean> => (await store.run(run))!.state.at === 'done'

/** An operator tells the truth, and of what did not happen decides whether it should. */
function review(task: TaskRecord, effects: ReadonlyMap<string, number>, opinion: () => boolean): Partial<GivenAnswer> {
  const happened = effects.has(task.context?.['idempotency_key'] as string)
  // What never arrives is not sent for ever.
  const again = opinion() && task.context?.['attempt'] === 1 && task.options!.some(({ id }) => id === 'retry')
  return happened
    ? { selectedOptionId: 'happened', textValue: '{"done":true}' }
    : { selectedOptionId: again ? 'retry' : 'skip' }
}
