/** Plays a scenario: whenever the run is idle, answers a task or advances the clock to the next event. */
import { setTimeout as after } from 'node:timers/promises'
import { readWhole } from '../conversation/whole.ts'
import { toIsoText, type Instant } from '../../base/clock.ts'
import { isFailure } from '../../base/failure.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Conversation, RunStatusBody, StreamEvent } from '../../spec/api.ts'
import type { Cassette } from '../../spec/cassette.ts'
import type { InboxItem } from '../../spec/operator-views.ts'
import { isTerminal } from '../../spec/run.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { ShownTask } from '../../spec/task.ts'
import { describeCause, describeSubject } from '../../spec/view/task-card.ts'
import { readInboxItem } from '../../spec/view/task-content.ts'
import type { SessionTree } from '../../store/session-update.ts'
import type { Project } from '../project/project.ts'
import { RemoteError } from '../shell/remote.ts'
import { answerOf, createScriptedAnswers, delayOf, type DecisionRule, type ScriptedAnswers } from '../runs/decisions.ts'
import type { Scenario } from './scenario.ts'
import { fakeFiles } from './files.ts'
import { openScenarioServer, type ScenarioServer } from './scenario-server.ts'

export interface PlayedScenario {
  /** Absent when the run could not be started. */
  readonly run?: RunStatusBody
  readonly conversation?: Conversation
  readonly events: readonly StreamEvent[]
  /** Why the run did not end, or could not start. */
  readonly problem?: string
  /** Tasks that no entry of `decide` answered, described for people. */
  readonly undecided: readonly string[]
  /** Virtual time that passed. */
  readonly virtualMs: number
}

export interface PlayOptions {
  readonly project: Project
  readonly bundle: CompiledBundle
  /** Late-bound agents that are deployed with it. */
  readonly lateBound: readonly CompiledBundle[]
  /** `namespace.name` of the agent that is started. */
  readonly agent: string
  readonly cassette: Cassette
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export async function playScenario(
  scenario: Scenario,
  { project, bundle, lateBound, agent, cassette, env, signal }: PlayOptions,
): Promise<PlayedScenario> {
  const server = await openScenarioServer(project, [...lateBound, bundle], scenario.tools ?? {}, env, cassette)
  const undecided = new Set<string>()
  const since = server.time.clock.now()
  try {
    await fakeFiles(server, project, scenario.input)
    const started = await startRun(server, agent, scenario)
    if (typeof started === 'string') return { events: [], undecided: [], problem: started, virtualMs: 0 }
    const sessionId = started.sessionId as SessionId
    const answers = createScriptedAnswers(scenario.decide ?? [])
    let problem: string | undefined
    for (;;) {
      const tree = await waitUntilIdle(server, sessionId, signal)
      if (isTerminal(tree.session.status)) break
      problem = await answerOrAdvance(server, scenario, answers, undecided)
      if (problem !== undefined) break
    }
    return {
      run: await server.operator.call('GET /v1/runs/:id', { id: started.runId }),
      conversation: await readWhole((cursor) =>
        server.operator.call('GET /v1/runs/:id/conversation', {
          id: started.runId,
          query: { ...(cursor !== undefined && { cursor }) },
        }),
      ),
      events: await eventsOf(server, sessionId),
      ...(problem !== undefined && { problem }),
      undecided: [...undecided],
      virtualMs: server.time.clock.now() - since,
    }
  } finally {
    await server.close()
  }
}

/** Returns the message of the error where the start is refused. */
async function startRun(
  { operator }: ScenarioServer,
  agent: string,
  { input = {} }: Scenario,
): Promise<{ readonly runId: string; readonly sessionId: string } | string> {
  try {
    return await operator.call('POST /runs', { body: { agent, input } })
  } catch (error) {
    if (error instanceof RemoteError) return error.message
    throw error
  }
}

/** Polling interval: the store does not notify of changes. */
const POLL_MS = 2

/** Unchanged polls after which calls that the engine could still move count as waiting for a person. */
const STILL_POLLS = 5

/** Resolves when the run has ended, or can go on only when the clock moves or somebody answers. */
async function waitUntilIdle(
  { store, time }: ScenarioServer,
  sessionId: SessionId,
  signal: AbortSignal,
): Promise<SessionTree> {
  let lastVersion = -1
  let unchangedPolls = 0
  for (;;) {
    const tree = (await store.load(sessionId))!
    if (isTerminal(tree.session.status)) return tree
    unchangedPolls = tree.session.version === lastVersion ? unchangedPolls + 1 : 0
    lastVersion = tree.session.version
    const due = await store.nextTimerAt()
    const { waits, moves } = countWork(tree)
    const isStill = waits <= time.asleep.count && (moves === 0 || unchangedPolls >= STILL_POLLS)
    if (isStill && (due === undefined || due > time.clock.now())) return tree
    await after(POLL_MS, undefined, { signal })
  }
}

/** Counts what waits for a model or a tool, and what the engine itself still has to move. */
function countWork({ runs }: SessionTree): { readonly waits: number; readonly moves: number } {
  let [waits, moves] = [0, 0]
  for (const { state } of runs) {
    if (state.at === 'thinking') waits++
    if (state.at !== 'calling') continue
    for (const call of state.calls) {
      if (call.state.at === 'sent') waits++
      if (call.state.at === 'proposed' || call.state.at === 'ready') moves++
    }
    if (state.calls.every((call) => call.state.at === 'settled')) moves++
  }
  return { waits, moves }
}

interface PendingAnswer {
  readonly rule: DecisionRule
  readonly task: ShownTask
  readonly at: Instant
}

/** Answers the task that is due first, or advances the clock. Returns the reason where neither is possible. */
async function answerOrAdvance(
  server: ScenarioServer,
  { expect }: Scenario,
  answers: ScriptedAnswers,
  undecided: Set<string>,
): Promise<string | undefined> {
  const { operator, store, time } = server
  const { items } = await operator.call('GET /tasks', { query: {} })
  let next: PendingAnswer | undefined
  for (const item of items) {
    const task = toQuestion(item)
    const rule = answers.choose(task)
    if (!rule) {
      undecided.add(describeTask(task))
      // The task's own time-out answers it; that of the run counts only where the scenario expects it.
      if (item.expiresAt === null && !expect?.limits?.includes('max_hitl_wait_minutes'))
        return `nobody answers ${describeTask(task)}`
      continue
    }
    const at = Math.max(time.clock.now(), Date.parse(item.createdAt) + delayOf(rule))
    if (!next || at < next.at) next = { rule, task, at }
  }
  const due = Math.min((await store.nextTimerAt()) ?? Infinity, time.asleep.until ?? Infinity)
  if (next && next.at < due) {
    time.advance(next.at)
    return await answerTask(server, answers, next)
  }
  if (due === Infinity) return 'the run waits for something that never comes'
  time.advance(due)
  return undefined
}

async function answerTask(
  server: ScenarioServer,
  answers: ScriptedAnswers,
  { rule, task }: PendingAnswer,
): Promise<string | undefined> {
  try {
    const { error } = await server.answer(task.runId, answerOf(rule, task), {
      ...(rule.as !== undefined && { id: rule.as }),
      ...(rule.roles && { roles: rule.roles }),
    })
    answers.recordUse(rule, task)
    return error === undefined ? undefined : `the answer to ${describeTask(task)} is refused: ${error}`
  } catch (error) {
    if (error instanceof RemoteError || isFailure(error)) return `the answer to ${describeTask(task)}: ${error.message}`
    throw error
  }
}

/** Reply requests have no task id, so the run, time and question identify them. */
const toQuestion = (item: InboxItem): ShownTask => ({
  ...readInboxItem(item),
  ...(item.kind === 'reply' && { id: `${item.runId} ${item.createdAt} ${item.why}` }),
})

/** `approval of acme.refunds amount 180`, `reply: "Which colour?"`. */
const describeTask = (task: ShownTask): string =>
  task.tool === undefined
    ? `${task.kind}: ${JSON.stringify(describeCause(task))}`
    : `${task.kind} of ${describeSubject(task)}`

/** Events per query. */
const PAGE_SIZE = 500

async function eventsOf({ store }: ScenarioServer, sessionId: SessionId): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for (let seq = 0; ;) {
    const page = await store.events(sessionId, seq, PAGE_SIZE)
    events.push(...page.map(({ ts, kind, subject, data }) => ({ ts: toIsoText(ts), kind, subject, data })))
    if (page.length < PAGE_SIZE) return events
    seq = page.at(-1)!.seq
  }
}
