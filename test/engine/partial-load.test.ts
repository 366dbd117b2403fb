/**
 * A load reads the runs that may still change, and calls of others where a policy counts them. The evaluator is an engine that reads
 * each session whole: the same requests leave the same rows, whatever came before.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import { isTerminal } from '../../src/spec/run/run.ts'
import { joinCosts, type CostSum } from '../../src/spec/price.ts'
import type { Store } from '../../src/store/store.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  key,
  openBench,
  operator,
  policy,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
  type Model,
  type ToolFunction,
} from './bench.ts'
import { cases } from '../cases.ts'

const TOOLS = ['web', 'post', 'pay', 'child', 'child pays'] as const

const anyStart = fc.record({
  do: fc.constant('start' as const),
  calls: fc.array(fc.constantFrom(...TOOLS), { maxLength: 3 }),
  amount: fc.integer({ min: 1, max: 40 }),
  /** Its unsafe calls go on until they are told to end. */
  holds: fc.boolean(),
})
const anyRequest = fc.oneof(
  { weight: 4, arbitrary: anyStart },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), approved: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end calls' as const), known: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), run: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), run: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('resume', 'restart', 'wait') }) },
)
type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer T> ? T : never

const NUMBER = { type: 'object', properties: { amount: { type: 'number' } } }
const spec = { inputSchema: NUMBER, inputSchemas: [NUMBER] }
const web = tool('web', { ...spec, labels: { 'svc/content': 'untrusted' } })
const undoable = { labels: { 'svc/undone-by': 'acme.unpost', 'svc/undo-arguments': '{"amount": "{args.amount}"}' } }
const post = tool('post', { ...spec, ...undoable, sideEffectClass: 'non_idempotent_write' })
const unpost = tool('unpost', { ...spec, sideEffectClass: 'non_idempotent_write' })
const pay = tool('pay', { ...spec, sideEffectClass: 'irreversible_action' })

/** Every measure is kept with the decision, whether it decides or not. */
const PATHS = ['session.this_tool', 'session.all_tools', 'session.same_args', 'window.this_tool', 'workspace.all_tools']
const MEASURES = ['attempts', 'executed', 'denied', 'rejected', 'failed', 'total(args.amount)']
const measures = PATHS.flatMap((path) =>
  // A sum over calls without the argument is unknown.
  MEASURES.slice(0, path.includes('all_tools') ? -1 : undefined).map((measure) => ({
    field: `history.${path}.${measure}`,
    op: 'lt',
    value: 0,
    ...(!path.startsWith('session') && { window: '3m' }),
  })),
)
const policies = [
  { on: ['post', 'pay', 'unpost'], entry: policy('measures', { effect: 'deny', when: { any: measures } }) },
  {
    on: ['post'],
    entry: policy('sum', { when: { field: 'history.session.this_tool.total(args.amount)', op: 'gt', value: 60 } }),
  },
  { on: ['pay', 'post'], entry: policy('taint', { when: { field: 'run.taint', value: true } }) },
  {
    on: ['pay'],
    entry: policy('much', { when: { field: 'session.tokens_used', op: 'gt', value: 150, if_missing: false } }),
  },
  {
    on: ['unpost'],
    entry: policy('many', { when: { field: 'session.run_count', op: 'gt', value: 5, if_missing: false } }),
  },
]

interface Lived {
  readonly rows: JsonValue
  /** What the session says of its runs, and what they add up to. */
  readonly totals: readonly JsonValue[]
}

/** Lives the requests one after the other, each until nothing moves any more. */
async function live(requests: readonly AnyRequest[], wrap: (store: Store) => Store): Promise<Lived> {
  let held: ((outcome: ToolOutcome) => void)[] = []
  const invoke: ToolFunction = ({ arguments: given }) => {
    const { amount, holds } = given as { readonly amount: number; readonly holds?: boolean }
    if (holds) return new Promise<ToolOutcome>((end) => held.push(end))
    return amount % 7 === 0 ? returns('No.', true) : returns({ done: amount })
  }
  const say: Model = ({ run, messages }) => {
    const {
      calls = [],
      amount = 1,
      holds = false,
      message = '',
    } = run.input as Partial<Extract<AnyRequest, { do: 'start' }>> & {
      message?: string
    }
    // What it is given shows in what it uses.
    const tokens = 1 + (JSON.stringify(messages).length % 11)
    const below = message.split(' ')
    if (run.turn > 1 || (calls.length === 0 && message === '')) return { text: `Done ${amount}.`, tokens }
    if (message !== '') return { tokens, calls: [{ name: below[0]!, args: { amount: Number(below[1]) } }] }
    return {
      tokens,
      calls: calls.map((name) =>
        name.startsWith('child')
          ? { name: 'child', args: { message: `${name === 'child' ? 'web' : 'pay'} ${amount}` } }
          : { name, args: { amount, ...(holds && name !== 'web' && { holds }) } },
      ),
    }
  }
  const child = snapshotOf({
    name: 'child',
    tools: [web, pay],
    policies: policies.filter(({ on }) => on.includes('pay')),
  })
  const root = {
    ...snapshotOf({
      name: 'root',
      tools: [web, post, unpost, pay],
      agents: [boundAgent(child)],
      policies,
      limits: { on_limit: 'escalate' },
    }),
    sessionLimits: { tokens: 120, runs: 12 },
  }
  const bench = await openBench({
    agents: [root, child],
    models: { root: say, child: say },
    tools: { web: invoke, post: invoke, unpost: invoke, pay: invoke },
    terms: () => ({ price: { currency: 'EUR', version: '1', input: '3', output: '15' } }),
    store: wrap,
  })
  const session = async () => (await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items[0]
  const rootsOf = async (id: SessionId) =>
    (await bench.store.runsOfSession(id)).filter(({ parentRunId }) => parentRunId === null)
  const answer = async (id: SessionId, approved: boolean): Promise<void> => {
    for (const task of await bench.store.pendingTasks(id)) {
      const { kind, argumentsDigest: digest } = task
      const given =
        kind === 'anomaly_review'
          ? { selectedOptionId: approved ? 'happened' : 'skip' }
          : { approved, ...(digest && { metadata: { 'svc/arguments_digest': digest } }) }
      await bench.engine.answer(task.runId, { taskId: task.id, by: operator(), ...given }).catch(() => {})
    }
  }
  const endCalls = (isKnown: boolean): void => {
    const ending = held
    held = []
    for (const end of ending)
      end(isKnown ? returns({ done: 0 }) : { at: 'unknown', code: 'broken', error: 'The connection broke.' })
  }
  const play = async (request: AnyRequest): Promise<void> => {
    const found = await session()
    if (request.do === 'restart') return void (await bench.restart())
    if (request.do === 'wait') return bench.advance(61_000)
    if (request.do === 'end calls') return endCalls(request.known)
    if (request.do === 'start') {
      // What is left of the runs before it comes to an end, as a rule.
      for (let round = 0; round < 6; round++) {
        const now = await session()
        if (!now || isTerminal(now.status)) break
        endCalls(true)
        await turns(40)
        await answer(now.id, true)
        await turns(40)
      }
      const { calls, amount, holds } = request
      const more = found ? { continued: { sessionId: found.id } } : {}
      return void (await bench.engine.start(startOf('root', { calls, amount, holds }, more)))
    }
    if (!found) return
    if (request.do === 'answer') return answer(found.id, request.approved)
    if (request.do === 'resume')
      return void (await bench.engine.resume(found.rootRunId, { by: operator() as never, grants: true }))
    const roots = await rootsOf(found.id)
    const one: RunId = roots[('run' in request ? request.run : 0) % roots.length]!.id
    if (request.do === 'cancel') return void (await bench.engine.cancel(one, key()))
    await bench.engine.undo(one, { by: operator() as never })
  }
  const refusals: string[] = []
  for (const request of requests) {
    await play(request).catch((error: unknown) => void refusals.push(`${request.do}: ${String(error)}`))
    await turns(40)
    await bench.advance(1000)
  }
  const found = await session()
  const runs = found ? await bench.store.runsOfSession(found.id) : []
  const rows = {
    refusals,
    session: found,
    runs,
    steps: found ? await bench.store.stepsOfSession(found.id) : [],
    events: found ? await bench.store.events(found.id, 0, 10_000) : [],
    tasks: found ? await bench.store.tasksOfSession(found.id) : [],
    calls: found ? await bench.store.calls({ sessionId: found.id }) : [],
  }
  const cost = joinCosts(runs.flatMap(({ usage: { cost: each } }): readonly CostSum[] => (each ? [each] : [])))
  const totals = [
    [found?.runCount, runs.length],
    [
      found?.totalTokensUsed,
      runs.reduce((sum, { usage: { inputTokens, outputTokens } }) => sum + inputTokens + outputTokens, 0),
    ],
    [found?.cost, runs.some(({ usage }) => usage.cost) ? cost : undefined],
  ]
  await bench.engine.close(0)
  return {
    rows: JSON.parse(JSON.stringify(rows)) as JsonValue,
    totals: JSON.parse(JSON.stringify(totals)) as JsonValue[],
  }
}

const partial = (store: Store): Store => store
const whole = (store: Store): Store => ({
  ...store,
  async load(id) {
    const tree = await store.load(id)
    return tree && { ...tree, runs: await store.runsOfSession(id) }
  },
})
/** Forgets the calls of runs that are over. */
const forgetful = (store: Store): Store => ({
  ...store,
  calls: async (filter) => (filter.sessionId && !filter.runIds ? [] : store.calls(filter)),
})

const HISTORIES = Number(process.env['PARTIAL_LOADS'] ?? cases(25))
const anyRequests = fc
  .tuple(anyStart, fc.array(anyRequest, { minLength: 2, maxLength: 14 }))
  .map(([first, others]): readonly AnyRequest[] => [first, ...others])

test(
  `${HISTORIES} histories leave the same rows whether a session is read in part or whole`,
  async () => {
    await fc.assert(
      fc.asyncProperty(anyRequests, async (requests) => {
        const [one, other] = [await live(requests, partial), await live(requests, whole)]
        expect(one.rows).toEqual(other.rows)
        for (const [kept, counted] of one.totals as [JsonValue, JsonValue][]) expect(kept).toEqual(counted)
      }),
      { numRuns: HISTORIES, endOnFailure: false },
    )
  },
  60_000 + HISTORIES * 2000,
)

test('notices where calls of runs that are over do not count', async () => {
  const start = { do: 'start' as const, calls: ['post' as const], amount: 40, holds: false }
  const requests: readonly AnyRequest[] = [start, { ...start, calls: [] }, { ...start, amount: 39 }]
  expect((await live(requests, forgetful)).rows).not.toEqual((await live(requests, whole)).rows)
})
