/** Plays a scenario: whenever nothing can happen by itself, somebody answers or the clock is wound to what comes next. */
import { setTimeout as after } from 'node:timers/promises'
import { toIsoText, type Instant } from '../../base/clock.ts'
import { isFailure } from '../../base/failure.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Conversation, RunStatusBody, StreamEvent } from '../../spec/api.ts'
import type { Cassette } from '../../spec/cassette.ts'
import type { InboxItem } from '../../spec/operator.ts'
import { isTerminal } from '../../spec/run.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { SessionTree } from '../../store/store.ts'
import type { Project } from '../project/project.ts'
import { RemoteError } from '../shell/remote.ts'
import { subjectOf } from '../runs/approval-session.ts'
import {
  answerOf,
  createRulebook,
  delayOf,
  type WaitingTask,
  type DecisionRule,
  type ScriptedAnswers,
} from '../runs/decisions.ts'
import type { Scenario } from './scenario.ts'
import { fakeFiles } from './files.ts'
import { openStage, type ScenarioServer } from './scenario-server.ts'

export interface PlayedScenario {
  /** Absent when the run could not be started. */
  readonly run?: RunStatusBody
  readonly conversation?: Conversation
  readonly events: readonly StreamEvent[]
  /** Why the run was left before its end, or could not begin. */
  readonly problem?: string
  /** Tasks that no entry of `decide` answered, as people name them. */
  readonly undecided: readonly string[]
  /** Virtual time that went by. */
  readonly virtualMs: number
}

export interface PlayOptions {
  readonly project: Project
  readonly bundle: CompiledBundle
  /** Closures that are deployed beside it. */
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
  const stage = await openStage(project, [...lateBound, bundle], scenario.tools ?? {}, env, cassette)
  const undecided = new Set<string>()
  const since = stage.time.clock.now()
  try {
    await fakeFiles(stage, project, scenario.input)
    const started = await start(stage, agent, scenario)
    if (typeof started === 'string') return { events: [], undecided: [], problem: started, virtualMs: 0 }
    const sessionId = started.sessionId as SessionId
    const rulebook = createRulebook(scenario.decide ?? [])
    let problem: string | undefined
    for (;;) {
      const tree = await settle(stage, sessionId, signal)
      if (isTerminal(tree.session.status)) break
      problem = await move(stage, scenario, rulebook, undecided)
      if (problem !== undefined) break
    }
    return {
      run: await stage.operator.call('GET /v1/runs/:id', { id: started.runId }),
      conversation: await stage.operator.call('GET /v1/runs/:id/conversation', { id: started.runId }),
      events: await eventsOf(stage, sessionId),
      ...(problem !== undefined && { problem }),
      undecided: [...undecided],
      virtualMs: stage.time.clock.now() - since,
    }
  } finally {
    await stage.close()
  }
}

/** The sentence of what refused the start. */
async function start(
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

/** The store tells no one that it has changed: it is looked at again this soon. */
const LOOK_AGAIN_MS = 2

/** Looks that find the same tree before calls that wait for their turn are taken to wait for a person. */
const STILL = 5

/** Resolves when the run has ended, or nothing of it can happen before the clock moves or somebody answers. */
async function settle(
  { store, time }: ScenarioServer,
  sessionId: SessionId,
  signal: AbortSignal,
): Promise<SessionTree> {
  let seen = -1
  let same = 0
  for (;;) {
    const tree = (await store.load(sessionId))!
    if (isTerminal(tree.session.status)) return tree
    same = tree.session.version === seen ? same + 1 : 0
    seen = tree.session.version
    const due = await store.nextTimerAt()
    const { waits, moves } = countWork(tree)
    const isStill = waits <= time.asleep.count && (moves === 0 || same >= STILL)
    if (isStill && (due === undefined || due > time.clock.now())) return tree
    await after(LOOK_AGAIN_MS, undefined, { signal })
  }
}

/** What is in the hands of a model or a tool, and what the engine itself still has to move. */
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

interface Answering {
  readonly rule: DecisionRule
  readonly item: InboxItem
  readonly asked: WaitingTask
  readonly at: Instant
}

/** The next thing that happens: an answer, or time goes by. Answers why neither can. */
async function move(
  stage: ScenarioServer,
  { expect }: Scenario,
  rulebook: ScriptedAnswers,
  undecided: Set<string>,
): Promise<string | undefined> {
  const { operator, store, time } = stage
  const { items } = await operator.call('GET /tasks', { query: {} })
  let next: Answering | undefined
  for (const item of items) {
    const asked = toAsked(item)
    const rule = rulebook.choose(asked)
    if (!rule) {
      undecided.add(nameOf(item))
      // Its own deadline answers it; a limit of the run does only where the scenario is about that.
      if (item.expiresAt === null && !expect?.limits?.includes('max_hitl_wait_minutes'))
        return `nobody answers ${nameOf(item)}`
      continue
    }
    const at = Math.max(time.clock.now(), Date.parse(item.createdAt) + delayOf(rule))
    if (!next || at < next.at) next = { rule, item, asked, at }
  }
  const due = Math.min((await store.nextTimerAt()) ?? Infinity, time.asleep.until ?? Infinity)
  if (next && next.at < due) {
    time.wind(next.at)
    return await answer(stage, rulebook, next)
  }
  if (due === Infinity) return 'the run waits for something that never comes'
  time.wind(due)
  return undefined
}

async function answer(
  stage: ScenarioServer,
  rulebook: ScriptedAnswers,
  { rule, item, asked }: Answering,
): Promise<string | undefined> {
  try {
    const body = { ...answerOf(rule, asked), ...(item.kind !== 'reply' && { userTaskId: item.userTaskId }) }
    const { error } = await stage.answer(item.runId, body, {
      ...(rule.as !== undefined && { id: rule.as }),
      ...(rule.roles && { roles: rule.roles }),
    })
    rulebook.use(rule, asked)
    return error === undefined ? undefined : `the answer to ${nameOf(item)} is refused: ${error}`
  } catch (error) {
    if (error instanceof RemoteError || isFailure(error)) return `the answer to ${nameOf(item)}: ${error.message}`
    throw error
  }
}

/** A run may ask for many replies; each question is one of its own. */
const toAsked = (item: InboxItem): WaitingTask => ({
  id: item.kind === 'reply' ? `${item.runId} ${item.createdAt} ${item.why}` : item.userTaskId,
  kind: item.kind,
  ...(item.tool !== undefined && { tool: item.tool }),
  ...(item.args !== undefined && { args: item.args }),
  ...(item.argsDigest !== undefined && { argsDigest: item.argsDigest }),
  ...(item.options && { options: item.options }),
})

/** `approval of acme.refunds amount 180`, `reply: "Which colour?"`. */
const nameOf = (item: InboxItem): string =>
  item.tool === undefined ? `${item.kind}: ${JSON.stringify(item.why)}` : `${item.kind} of ${subjectOf(item)}`

/** Events read at once. */
const PAGE = 500

async function eventsOf({ store }: ScenarioServer, sessionId: SessionId): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for (let seq = 0; ;) {
    const page = await store.events(sessionId, seq, PAGE)
    events.push(...page.map(({ ts, kind, subject, data }) => ({ ts: toIsoText(ts), kind, subject, data })))
    if (page.length < PAGE) return events
    seq = page.at(-1)!.seq
  }
}
