/**
 * Random histories: random agents call random tools, people answer at random, outcomes get lost, runs are cancelled and the
 * process crashes at random commits and sends. A history follows from its plan alone, so a failing one is shrunk and printed.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentIdOf, versionIdOf, type RunId, type SessionId } from '../../src/base/ids.ts'
import { isJsonObject, type JsonObject } from '../../src/base/json/json.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { Principal } from '../../src/spec/key.ts'
import type { Run } from '../../src/spec/run.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { RunStep } from '../../src/spec/step.ts'
import { isOperatorOnly, type GivenAnswer, type TaskRecord } from '../../src/spec/task.ts'
import type { Store } from '../../src/store/store.ts'
import {
  boundAgent,
  builtin,
  key,
  openBench,
  operator,
  overloaded,
  policy,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
  publish,
  T0,
  type AgentSpec,
  type Bench,
  type Model,
  type ModelReply,
} from './bench.ts'
import { UnsentError } from '../../src/base/net/transport.ts'
import { findPause, type PauseAct } from '../../src/spec/steer/pause.ts'
import { COMPLETION, COMPLETION_TIMEOUT } from '../../src/spec/steer/wait.ts'
import { HELD_BACK } from '../../src/tools/outcome.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? 120)

const ROUNDS = 300
/** The round in which every pause ends, if none did before. */
const LAST_PAUSED = 20
/** A budget that a lost completion has gone far beyond is granted again and again, but not for ever. */
const PATIENCE = 50

const CLASSES: Readonly<Record<string, SideEffectClass | undefined>> = {
  look: 'read_only',
  put: 'idempotent_write',
  post: 'non_idempotent_write',
  pay: 'irreversible_action',
  sign: 'non_idempotent_write',
  stamp: undefined,
  ship: 'non_idempotent_write',
}
/** Its calls end when somebody reports them. */
const OUTSIDE = 'ship'
const SAFE: ReadonlySet<string> = new Set(['look', 'put'])
/** Nothing of these happens before so many people have said so, by the version that decides; operators move runs to the second. */
const GATED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '1.0.0': { pay: 1, sign: 2 },
  '1.0.1': { pay: 2, sign: 2, post: 1 },
}

/** Arguments of what is no tool of a class. */
const REPLIES: Readonly<Record<string, JsonObject>> = {
  child: { message: 'go' },
  ask_parent: { question: 'So?' },
  ask_user: { message: 'Where to?' },
  wait_event: { name: 'go', timeout: '2m' },
  wait_until: { after: '1m' },
}

interface PlannedCall {
  readonly name: string
  /** True for one that says what another one may have said before. */
  readonly again: boolean
  /** Turns of the event loop until it has happened, and from then on until its answer is there. */
  readonly takes: number
  readonly answersAfter?: number
  readonly outcome: 'returned' | 'failed' | 'lost' | 'lost, then gone' | 'never arrived'
}

/** `lift` ends every pause. */
interface PlannedAct {
  readonly round: number
  readonly turn: number
  readonly act:
    | 'pause all'
    | 'pause agent'
    | 'pause tool'
    | 'pause provider'
    | 'lift'
    | 'steer'
    | 'interrupt'
    | 'signal'
    | 'report'
    | 'migrate'
}

interface Plan {
  readonly root: readonly (readonly PlannedCall[])[]
  readonly child: readonly PlannedCall[]
  /** What comes of one completion after the other, in the order in which they are asked for. */
  readonly completions: readonly ('answers' | 'busy' | 'breaks off' | 'falls silent')[]
  /** Tokens that the root and its children may use, and whether an operator is asked for more. */
  readonly budget: number | null
  readonly asks: boolean
  /** What people say to one task after the other, and whether a no to a gated call ends its run. */
  readonly people: readonly boolean[]
  readonly noIsFatal: boolean
  /** The round in which the run is cancelled, if it is still there. */
  readonly cancelled: number | null
  /** What operators and clients do meanwhile, in rounds and turns of the event loop. */
  readonly acts: readonly PlannedAct[]
  /** How often the session goes on with another root run after it ended. */
  readonly continues: number
  /** How often an operator lets a run go on that did not complete. */
  readonly resumes: number
  readonly crashes: readonly Crash[]
}

const callOf = (...others: string[]): fc.Arbitrary<PlannedCall> =>
  fc.record({
    name: fc.constantFrom(...Object.keys(CLASSES), ...others),
    again: fc.boolean(),
    takes: fc.integer({ min: 0, max: 6 }),
    outcome: fc.constantFrom(
      'returned',
      'returned',
      'returned',
      'returned',
      'failed',
      'lost',
      'lost, then gone',
      'never arrived',
    ),
  })
/** A value in a third of all plans. */
const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
const plan: fc.Arbitrary<Plan> = fc.record({
  root: fc.array(
    fc.array(callOf('child', 'child', 'ask_user', 'wait_event', 'wait_until'), { minLength: 1, maxLength: 3 }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  child: fc.array(callOf('ask_parent', 'ask_parent', 'ask_parent'), { maxLength: 2 }),
  completions: fc.array(fc.constantFrom('answers', 'answers', 'answers', 'busy', 'breaks off', 'falls silent'), {
    maxLength: 8,
  }),
  budget: sometimes(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 9000 }))),
  asks: fc.boolean(),
  people: fc.array(fc.boolean(), { maxLength: 6 }),
  noIsFatal: fc.boolean(),
  cancelled: sometimes(fc.integer({ min: 0, max: 6 })),
  acts: fc.array(
    fc.record({
      round: fc.integer({ min: 0, max: 12 }),
      turn: fc.integer({ min: 0, max: 20 }),
      act: fc.constantFrom(
        'pause all',
        'pause agent',
        'pause tool',
        'pause provider',
        'lift',
        'lift',
        'steer',
        'interrupt',
        'signal',
        'signal',
        'report',
        'report',
        'migrate',
        'migrate',
      ),
    }),
    { maxLength: 8 },
  ),
  continues: fc.constantFrom(0, 0, 1, 2),
  resumes: fc.constantFrom(0, 1, 3),
  crashes: fc.array(fc.record({ at: fc.integer({ min: 1, max: 50 }), after: fc.boolean() }), { maxLength: 3 }),
})

/** Longer than a round of a history takes. */
const LONG = 300
const olga = operator() as Extract<Principal, { type: 'operator' }>

/** Plans in which a no ends a run while another call of it is in flight, and a child of it waits for a person. */
const refusal: fc.Arbitrary<Plan> = fc
  .tuple(plan, callOf(), fc.constantFrom('pay', 'sign'), fc.constantFrom('pay', 'sign'))
  .map(([{ root, people, crashes }, call, gated, below]) => ({
    root: [
      [
        { ...call, answersAfter: LONG },
        { ...call, name: 'child' },
        { ...call, name: gated },
      ],
      ...root,
    ],
    child: [{ ...call, name: below }],
    completions: [],
    budget: null,
    asks: false,
    people: [...people, false],
    noIsFatal: true,
    cancelled: null,
    acts: [],
    continues: 0,
    resumes: 0,
    crashes,
  }))

interface History {
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
}

/** What is wrong in the controls. */
interface Weakness {
  readonly classes?: typeof CLASSES
  /** The engine does not know what is paused. */
  readonly isBlind?: boolean
  /** The version to which runs move decides as the one before. */
  readonly isLax?: boolean
}

async function live(
  { root, child, completions, budget, asks, people, noIsFatal, cancelled, acts, continues, resumes, crashes }: Plan,
  { classes = CLASSES, isBlind = false, isLax = false }: Weakness = {},
): Promise<History> {
  const world = createCrashingProcess(crashes)
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
  const tools = Object.keys(CLASSES).map((name) => {
    const { sideEffectClass: _, ...undeclared } = tool(name)
    const given = classes[name]
    return {
      ...undeclared,
      ...(given && { sideEffectClass: given }),
      ...(name === OUTSIDE && { labels: { [COMPLETION]: 'external', [COMPLETION_TIMEOUT]: '2m' } }),
    }
  })
  const on_reject = noIsFatal ? 'fail' : 'return_to_agent'
  const policies = [
    { on: ['sign'], entry: policy('two', { obligations: { approvals_required: 2, on_reject } }) },
    { on: ['pay'], entry: policy('one', { obligations: { on_reject } }) },
  ]
  const helper = snapshotOf({ name: 'child', tools, policies, limits: { max_wall_clock_seconds: 600 } })
  const spec: AgentSpec = {
    name: 'root',
    tools: [...tools, builtin('ask_user'), waitTool('wait_event'), waitTool('wait_until')],
    agents: [boundAgent(helper)],
    policies,
    limits: {
      max_wall_clock_seconds: 1200,
      on_limit: asks ? 'escalate' : 'halt',
      ...(budget !== null && { max_tokens_per_run: budget }),
    },
  }
  const agent = snapshotOf(spec)
  const tighter = ['one', 'two'].map((name, at) => ({
    on: at === 0 ? ['post'] : ['pay', 'sign'],
    entry: policy(`tighter ${name}`, { obligations: { approvals_required: at + 1, on_reject } }),
  }))
  const made = snapshotOf({ ...spec, policies: isLax ? policies : tighter })
  const next: AgentSnapshot = { ...made, version: '1.0.1' }
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
    store: (store) => ({ ...world.wrap(store), ...(isBlind && { pauses: () => Promise.resolve([]) }) }),
  })
  await publish(bench.store, [next])
  await bench.store.deploy(agentIdOf('test', agent.id), versionIdOf('test', agent.id, agent.digest), T0, 'test')
  const nextVersion = (await bench.store.version(versionIdOf('test', next.id, next.digest)))!
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
    const left = (await bench.store.tasksOfSession(session)).some(({ status }) => status === 'pending')
    const ended = (await bench.store.run(rootRunId))!.usage.resumes ?? 0
    // Before what is unknown is reviewed, or after it.
    if (finishedAt !== null && status !== 'Completed' && ended < resumes && (!left || opinion())) {
      await bench.engine.resume(rootRunId, { by: olga, grants: true }).catch(() => {})
      continue
    }
    if (finishedAt !== null && !left) {
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
      const by = isOperatorOnly(task.kind) ? operator() : key()
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
  if (session === undefined) throw new Error('No run was ever accepted.')
  return { bench, session, effects, sent, tooLate, whilePaused, reported }
}

/** True for a run that is not there to be told any more. */
const hasEnded = async (store: Store, run: RunId): Promise<boolean> => (await store.run(run))!.state.at === 'done'

const waitTool = (name: 'wait_event' | 'wait_until') => tool(name, { id: `svc.${name}`, builtin: true })

/** An operator tells the truth, and of what did not happen decides whether it should. */
function review(task: TaskRecord, effects: ReadonlyMap<string, number>, opinion: () => boolean): Partial<GivenAnswer> {
  const happened = effects.has(task.context?.['idempotency_key'] as string)
  // What never arrives is not sent for ever.
  const again = opinion() && task.context?.['attempt'] === 1 && task.options!.some(({ id }) => id === 'retry')
  return happened
    ? { selectedOptionId: 'happened', textValue: '{"done":true}' }
    : { selectedOptionId: again ? 'retry' : 'skip' }
}

const ofType = (steps: readonly RunStep[], type: RunStep['type']): readonly RunStep[] =>
  steps.filter((step) => step.type === type)
const subjects = (events: readonly StoredEvent[], pattern: RegExp): number =>
  events.filter(({ subject }) => pattern.test(subject)).length

interface Told {
  readonly events: readonly StoredEvent[]
  readonly steps: readonly RunStep[]
}

async function check({ bench, session, effects, sent, tooLate, whilePaused, reported }: History): Promise<Told> {
  const ended = (await bench.store.session(session))!
  expect(ended.status).toMatch(/^(Completed|Cancelled|Failed)$/)
  const runs = await bench.store.runsOfSession(session)
  const steps = await bench.store.stepsOfSession(session)
  const events = await bench.store.events(session, 0, 10_000)

  // Nothing unsafe happened twice, and nothing gated before enough people had approved exactly it.
  const twice = [...sent].filter(([named, keys]) => !SAFE.has(named.split(' ')[0]!) && new Set(keys).size < keys.length)
  expect(twice).toEqual([])
  // Nothing is begun for a run that has ended: its descendants end with it.
  expect(tooLate).toEqual([])
  expect(whilePaused).toEqual([])
  expect(reported).toHaveLength(new Set(reported).size)
  for (const [idempotencyKey, times] of effects) {
    const [, runId, turn, index] = idempotencyKey.split(':')
    const asked = ofType(steps, 'Reasoning').filter((step) => step.runId === runId && step.error === null)
    const calls = asked[Number(turn) - 1]!.content['tool_calls'] as unknown as { id: string; name: string }[]
    const { id, name } = calls[Number(index)]!
    if (name === 'look') continue
    expect([idempotencyKey, name, times]).toEqual([idempotencyKey, name, 1])
    // The model is never told that something was not executed which was.
    const told = ofType(steps, 'ToolResult').find((step) => step.runId === runId && step.content['tool_call_id'] === id)
      ?.content['result']
    expect(isJsonObject(told) ? told['error'] : undefined).toBeUndefined()
    const dispatched = steps.find(
      (step) => step.type === 'ToolCall' && step.runId === runId && step.content['tool_call_id'] === id,
    )!
    const moved = ofType(steps, 'RunResumed').some(
      ({ runId: of, ordinal, content }) =>
        of === runId && ordinal < dispatched.ordinal && content['version'] === '1.0.1',
    )
    const needed = GATED[moved ? '1.0.1' : '1.0.0']![name]
    if (needed === undefined) continue
    const tasks = (await bench.store.tasksOfSession(session)).filter(
      (task) => task.callId === id && task.runId === runId && task.kind === 'approval',
    )
    const answeredBefore = (task: TaskRecord): boolean =>
      steps.some(
        ({ type, content, ordinal }) =>
          type === 'UserTaskRes' && content['user_task_id'] === task.id && ordinal < dispatched.ordinal,
      )
    const approved = tasks.findLast((task) => task.answer?.approved === true && answeredBefore(task))
    expect([name, approved?.approvalsRequired, approved?.votes.length]).toEqual([name, needed, needed])
  }

  // The log has no hole, and each thing in it begins and ends once.
  expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1))
  expect(steps.map((step) => step.ordinal)).toEqual(steps.map((_, at) => at + 1))
  expect(steps.filter((step) => step.finishedAt === null)).toEqual([])
  const roots = runs.filter(({ parentRunId }) => parentRunId === null)
  const resumed = events.filter(({ subject, data }) => subject === 'engine.run.resumed' && 'resumedBy' in data)
  const resumedRoots = resumed.filter(({ runId }) => roots.some(({ id }) => id === runId))
  expect(subjects(events, /^engine\.session\.(completed|failed|cancelled)$/)).toBe(roots.length + resumedRoots.length)
  expect(ended.rootRunId).toBe(roots.at(-1)!.id)
  // What comes after the end is what people say of calls that were under way then.
  const end = events.findLastIndex(({ subject }) => /^engine\.session\.(completed|failed|cancelled)$/.test(subject))
  const about = ({ data }: StoredEvent): unknown =>
    isJsonObject(data['task']) ? data['task']['kind'] : isJsonObject(data['step']) && data['step']['type']
  for (const event of events.slice(end + 1))
    expect(['anomaly_review', 'UserTaskReq', 'UserTaskRes']).toContain(about(event))
  // Somebody was asked about every unsafe call of which nobody knew.
  const unknown = (await bench.store.calls({ sessionId: session })).filter(({ state }) => state === 'unknown')
  expect(unknown.filter(({ ref }) => !SAFE.has(ref.slice('acme.'.length)))).toEqual([])
  expect(subjects(events, /^engine\.run\.(completed|failed|cancelled)$/)).toBe(runs.length + resumed.length)
  for (const run of runs) {
    expect(run.state.at).toBe('done')
    const own = steps.filter((step) => step.runId === run.id)
    expect(own.map((step) => step.sequence)).toEqual(own.map((_, at) => at + 1))
    const spent = ofType(own, 'Reasoning').reduce((sum, step) => sum + (step.tokensUsed ?? 0), 0)
    expect(run.usage.inputTokens + run.usage.outputTokens).toBe(spent)
    if (run.status === 'Completed') checkResults(own)
  }
  checkRefused(runs, steps)
  expect(ended.totalTokensUsed).toBe(runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0))
  for (const task of await bench.store.tasksOfSession(session)) expect(task.status).not.toBe('pending')
  expect(bench.busySessions()).toEqual([])
  expect(await bench.store.nextTimerAt()).toBeUndefined()
  await bench.engine.close(0)
  return { events, steps }
}

/** Runs that a person's no has ended. */
const refused = (steps: readonly RunStep[]): readonly string[] =>
  ofType(steps, 'RunCompleted')
    .filter(({ error }) => error?.includes('was not executed'))
    .map(({ runId }) => runId)

/** What is begun, decided or asked by a run or below it. */
const BEGINS: ReadonlySet<RunStep['type']> = new Set([
  'PolicyDecision',
  'ToolCall',
  'SubAgentCall',
  'UserTaskReq',
  'UserTaskRes',
])

/** From the no that ends a run on, nothing is begun for it or below it until it is resumed; what was begun before may be asked about. */
function checkRefused(runs: readonly Run[], steps: readonly RunStep[]): void {
  const reviews = new Set(
    ofType(steps, 'UserTaskReq')
      .filter(({ content }) => content['kind'] === 'anomaly_review')
      .map(({ content }) => content['user_task_id']),
  )
  for (const run of refused(steps)) {
    const below = new Set<string>([run])
    for (const { id, parentRunId } of runs) if (parentRunId !== null && below.has(parentRunId)) below.add(id)
    const no = ofType(steps, 'UserTaskRes').findLast(
      ({ runId, content }) => runId === run && content['approved'] === false,
    )!
    const resumed = ofType(steps, 'RunResumed').find(({ ordinal }) => ordinal > no.ordinal)
    const later = steps.filter(
      ({ type, runId, ordinal, error, content }) =>
        ordinal > no.ordinal &&
        ordinal < (resumed?.ordinal ?? Infinity) &&
        below.has(runId) &&
        !reviews.has(content['user_task_id'] ?? null) &&
        (BEGINS.has(type) || (type === 'Reasoning' && error === null)),
    )
    expect(later.map(({ type, content }) => [type, content])).toEqual([])
  }
}

interface Rare {
  readonly name: string
  of(events: readonly StoredEvent[], steps: readonly RunStep[]): boolean
}

const holds =
  (reason: string): Rare['of'] =>
  (events) =>
    events.some(({ data: { hold } }) => isJsonObject(hold ?? null) && (hold as JsonObject)['reason'] === reason)

const isMove = ({ type, content }: RunStep): boolean => type === 'RunResumed' && content['version'] === '1.0.1'

/** What histories are worth nothing without: each of these is met, or the plans are too tame. */
const RARE: readonly Rare[] = [
  { name: 'a hold by an operator', of: holds('paused') },
  { name: 'a wait for a signal', of: holds('signal') },
  { name: 'work outside', of: holds('external') },
  { name: 'a move to another version', of: (_, steps) => steps.some(isMove) },
  {
    name: 'a question that is asked anew',
    of: (events, steps) =>
      steps.some(
        (step) =>
          isMove(step) &&
          events.some(({ subject, ts }) => subject === 'engine.user_task.cancelled' && ts === step.startedAt),
      ),
  },
  { name: 'a message', of: (_, steps) => steps.some(({ content }) => content['steer'] === true) },
  { name: 'a child', of: (_, steps) => ofType(steps, 'SubAgentCall').length > 0 },
  { name: 'a question', of: (events) => subjects(events, /^engine\.aitl\.escalated$/) > 0 },
  { name: 'a limit', of: (_, steps) => ofType(steps, 'LimitReached').length > 0 },
  { name: 'a resumption', of: (events) => events.some(({ data }) => 'resumedBy' in data) },
  {
    name: 'a resumed child',
    of: (events) => events.some(({ data, runId }) => 'resumedBy' in data && runId !== events[0]!.runId),
  },
  { name: 'a quorum', of: (events) => subjects(events, /^engine\.user_task\.voted$/) > 0 },
  { name: 'a completion called off', of: (_, steps) => steps.some(({ error }) => error?.startsWith('Called off')) },
  {
    name: 'an unknown outcome',
    of: (_, steps) => ofType(steps, 'UserTaskReq').some(({ content }) => content['kind'] === 'anomaly_review'),
  },
]

/** The same where a no ends a run. */
const RARE_REFUSED: readonly Rare[] = [
  {
    name: 'another call in flight',
    of: (_, steps) =>
      refused(steps).some((run) =>
        ofType(steps, 'ToolCall').some(
          ({ runId, error }) => runId === run && error === 'The run ended before the outcome was known.',
        ),
      ),
  },
  {
    name: 'a child that waits for a person',
    of: (events, steps) =>
      refused(steps).includes(events[0]!.runId) &&
      events.some(({ subject, runId }) => subject === 'engine.user_task.cancelled' && runId !== events[0]!.runId),
  },
]

/** Each call of a run that completed has one result. */
function checkResults(own: readonly RunStep[]): void {
  const calls = ofType(own, 'Reasoning').flatMap((step) => step.content['tool_calls'] as unknown as { id: string }[])
  const asked = new Set<unknown>(calls.map(({ id }) => id))
  const results = own.filter((step) => step.type === 'ToolResult' || step.type === 'SubAgentResult')
  // What a child comes to after its question was escalated by itself is the result of no call.
  const told = results.map((step) => step.content['tool_call_id']).filter((id) => asked.has(id))
  expect(told).toHaveLength(asked.size)
  expect(new Set(told)).toEqual(asked)
}

test.each([
  ['random histories', plan, RARE],
  ['histories in which a no ends a run', refusal, RARE_REFUSED],
] as const)(
  `${SCHEDULES} %s keep every promise`,
  async (_, plans, rares) => {
    const met = new Set<string>()
    await fc.assert(
      fc.asyncProperty(plans, async (each) => {
        const { events, steps } = await check(await live(each))
        for (const rare of rares) if (rare.of(events, steps)) met.add(rare.name)
      }),
      { numRuns: SCHEDULES, endOnFailure: false },
    )
    expect([...met].toSorted()).toEqual(rares.map(({ name }) => name).toSorted())
  },
  60_000 + SCHEDULES * 500,
)

test('produces the same history from the same plan', async () => {
  const [each] = fc.sample(plan, { numRuns: 20, seed: 7 }).filter(({ crashes }) => crashes.length > 1)
  const told = async (): Promise<readonly JsonObject[]> => {
    const { bench, session } = await live(each!)
    const events = await bench.store.events(session, 0, 10_000)
    await bench.engine.close(0)
    return events.map(({ ts, kind, subject, data }) => ({ ts, kind, subject, data }))
  }
  expect(await told()).toEqual(await told())
})

test('breaks a promise in some history if tools declare themselves safer than they are', async () => {
  const lying = { ...CLASSES, post: 'read_only', stamp: 'read_only' } as const
  await expect(
    fc.assert(
      fc.asyncProperty(plan, async (each) => void (await check(await live(each, { classes: lying })))),
      { numRuns: 200, endOnFailure: true },
    ),
  ).rejects.toThrow('Property failed')
}, 60_000)

test('breaks a promise in some history if the engine does not know what is paused', async () => {
  await expect(
    fc.assert(
      fc.asyncProperty(plan, async (each) => void (await check(await live(each, { isBlind: true })))),
      { numRuns: 200, endOnFailure: true },
    ),
  ).rejects.toThrow('Property failed')
}, 60_000)

test('breaks a promise in some history if calls are decided by the version from which their run was moved', async () => {
  const moving = plan.map((each): Plan => ({ ...each, acts: [...each.acts, { round: 1, turn: 0, act: 'migrate' }] }))
  await expect(
    fc.assert(
      fc.asyncProperty(moving, async (each) => void (await check(await live(each, { isLax: true })))),
      { numRuns: 200, endOnFailure: true },
    ),
  ).rejects.toThrow('Property failed')
}, 60_000)
