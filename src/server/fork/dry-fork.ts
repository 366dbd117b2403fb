/**
 * Dry forks: a run is repeated from a step on in an engine and a store of its own, in memory. Its models are called; its
 * tools and people are played from the recording. It can reach no tool, and nothing of it is stored. Source: docs/design/steering.md#fork
 */
import { signalWithin } from '../../base/signal-within.ts'
import { randomInt } from 'node:crypto'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId, TaskId, WorkspaceId } from '../../base/ids.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { createEngine } from '../../engine/open.ts'
import type { Engine, ForkRequest, ForkSource } from '../../engine/interface/engine.ts'
import type { ModelProviders } from '../../providers/provider.ts'
import type { DryForkView } from '../../operations/steering.ts'
import { joinCosts } from '../../spec/price.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import { describePaused, findPause, type PauseAct } from '../../spec/steer/pause.ts'
import type { GivenAnswer, TaskRecord } from '../../spec/task.ts'
import { openSqlite } from '../../store/sqlite/open.ts'
import type { Store } from '../../store/store.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { Toolbox } from '../../tools/tool.ts'
import type { ServerServices } from '../runtime/services.ts'
import { compareCalls } from './compare.ts'
import { createRecording, recordedCalls, type Recording } from './recording.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Answers of people to one dry run. */
const MAX_ANSWERS = 200
/** Maximum duration of a dry run. */
const MAX_MS = 5 * 60_000

export async function playDryFork(
  services: ServerServices,
  models: ModelProviders,
  source: ForkSource,
  request: Omit<ForkRequest, 'isDry'>,
  signal: AbortSignal,
): Promise<DryForkView> {
  const { run: was } = source
  const { workspaceId, snapshot } = request.version
  const pause = findPause(await pausesOfModels(services.store, workspaceId), {
    agents: [],
    versions: [],
    provider: snapshot.model.provider,
  })
  if (pause) throw fail('agent_paused', { agent: snapshot.id, paused: describePaused(pause) })
  const below = await familyOf(services.store, was)
  const steps = (await services.store.stepsOfSession(was.sessionId)).filter(({ runId }) => below.has(runId))
  const tasks = (await services.store.tasksOfSession(was.sessionId)).filter(({ runId }) => below.has(runId))
  const isAfter = ({ result }: { result?: { ordinal: number } }): boolean => !result || result.ordinal > request.at
  const made = recordedCalls(steps, tasks).filter(isAfter)
  const recording = createRecording(made, tasks)
  const play: Play = { stopped: undefined, stop: () => {} }
  const store = openSqlite(':memory:', { clock: services.clock })
  const engine = openDryEngine(services, models, store, recording, play)
  try {
    await publishClosure(services.store, store, request.version)
    const { runId, sessionId, taken } = await engine.fork(source, { ...request, isDry: true })
    play.stop = () => void engine.cancel(runId, request.by).catch(() => {})
    const run = await playToEnd(engine, { id: runId, sessionId }, recording, play, request, signal)
    const told = await store.stepsOfSession(sessionId)
    // The steps that were taken over come first; a call among them without a result is made again.
    const would = recordedCalls(told, await store.tasksOfSession(sessionId)).filter(
      ({ result }) => !result || result.ordinal > taken,
    )
    const runs = await store.runsOfSession(sessionId)
    const differences = compareCalls(made, would)
    const status = { was: was.status, would: run.status }
    const { stopped } = play
    return {
      runId: was.id,
      at: request.at,
      versionLabel: { was: was.versionLabel, would: run.versionLabel },
      status,
      output: { was: was.output, would: run.output, isSame: JSON.stringify(was.output) === JSON.stringify(run.output) },
      error: { was: was.error, would: run.error },
      ...(stopped !== undefined && { stopped }),
      differences,
      differs: differences.length > 0 || status.was !== status.would || stopped !== undefined,
      tokens: runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
      ...(runs.some(({ usage }) => usage.cost) && { cost: joinCosts(runs.flatMap(({ usage }) => usage.cost ?? [])) }),
    }
  } finally {
    await engine.close(0)
    await store.close()
  }
}

/** A dry run observes pauses of models only: it has no other effects. */
const pausesOfModels = async (store: Store, workspace: WorkspaceId): Promise<readonly PauseAct[]> =>
  (await store.pauses(workspace)).filter(({ kind }) => kind === 'all' || kind === 'provider')

/** The state of one dry run while it is played. */
interface Play {
  stopped: string | undefined
  stop: () => void
}

function stopPlay(play: Play, why: string): void {
  play.stopped ??= why
  play.stop()
}

function openDryEngine(
  { clock, ids, log, redactor, blobs, config, store: real }: ServerServices,
  models: ModelProviders,
  store: Store,
  recording: Recording,
  play: Play,
): Engine {
  const maxIterations = config.limits?.max_loop_iterations
  return createEngine({
    store: {
      ...store,
      // Files that a message names are read as usual.
      fileByName: (workspace, name) => real.fileByName(workspace, name),
      pauses: (workspace) => pausesOfModels(real, workspace),
    },
    providers: models,
    tools: recordedTools(recording, play),
    clock,
    ids,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    log,
    redactor,
    worker: 'dry',
    ...(typeof blobs === 'object' && { blobs }),
    ...(maxIterations !== undefined && { maxIterations }),
    concurrency: config.concurrency ?? {},
  })
}

/**
 * Tools without access to anything outside: each call is answered from the recording, and a call that is missing there
 * stops the run.
 */
export const recordedTools = (recording: Recording, play: Play): Toolbox => ({
  route: () => ({
    route: 'mock',
    timeoutMs: 60_000,
    invoke({ tool, arguments: given }) {
      const played = recording.take({ name: tool.wire, arguments: given })
      if (played?.result) {
        const { value: result, isError, media = [] } = played.result
        return Promise.resolve({ at: 'returned', result, isError, durationMs: 0, media })
      }
      const error = `${tool.wire} would be called, and the recording has no result of it`
      stopPlay(play, error)
      return Promise.resolve({ at: 'not_sent', code: 'refused', error })
    },
  }),
  describe: () => Promise.resolve(undefined),
  findUnsetSecret: () => undefined,
  close: () => Promise.resolve(),
})

async function playToEnd(
  engine: Engine,
  ids: { readonly id: RunId; readonly sessionId: SessionId },
  recording: Recording,
  play: Play,
  { by }: Pick<ForkRequest, 'by'>,
  given: AbortSignal,
): Promise<Run> {
  const signal = signalWithin(MAX_MS, given)
  const answered = new Set<string>()
  for (let answers = 0; ; answers++) {
    const run = await engine.waitForPause(ids, signal)
    if (run && isTerminal(run.status)) return run
    if (!run) stopPlay(play, 'it took too long')
    else if (answers >= MAX_ANSWERS) stopPlay(play, `people would be asked more than ${MAX_ANSWERS} times`)
    else {
      const asked = await answerNext(engine, run, recording, answered, by)
      if (asked !== undefined) stopPlay(play, asked)
    }
    if (play.stopped === undefined) continue
    await engine.cancel(ids.id, by)
    return expectDefined(await engine.store.run(ids.id), 'the run was started here')
  }
}

/** Sends the next recorded answer. @returns the reason if there is none */
async function answerNext(
  engine: Engine,
  root: Run,
  recording: Recording,
  answered: Set<string>,
  by: ForkRequest['by'],
): Promise<string | undefined> {
  const { store } = engine
  const steps = await store.stepsOfSession(root.sessionId)
  const calls = recordedCalls(steps, [])
  if (root.status === 'WaitingForResponse') {
    const open = calls.find(({ runId, result }) => runId === root.id && !result)
    const reply = open && textIn(recording.take(open)?.result?.value)
    if (reply === undefined) return 'the user would be asked something that nobody has answered'
    const { error } = await engine.answer(root.id, { by, text: reply })
    return error
  }
  const pending = (await store.tasksOfSession(root.sessionId)).filter(({ status }) => status === 'pending')
  const task = pending.find(({ id, approvalsRequired = 1 }) => count(answered, id) < approvalsRequired)
  if (!task) return 'a person would have to answer again'
  const call = calls.find(({ runId, callId }) => runId === task.runId && callId === task.callId)
  const said = answerOf(task, call && (isQuestion(task) ? recording.take(call) : recording.peek(call)), recording)
  if (!said) return `a person would be asked: ${task.title}`
  const voter = count(answered, task.id)
  answered.add(`${task.id} ${voter}`)
  const person = {
    ...by,
    id: `recording-${voter + 1}`,
    roles: task.approverRole === undefined ? [] : [task.approverRole],
  }
  const { error } = await engine.answer(task.runId, {
    taskId: task.id as TaskId,
    by: person,
    origin: { channel: 'scenario', proof: 'hardware' },
    ...said,
  })
  return error
}

const count = (answered: ReadonlySet<string>, id: string): number =>
  [...answered].filter((each) => each.startsWith(`${id} `)).length

const isQuestion = ({ kind }: TaskRecord): boolean => kind === 'text' || kind === 'number' || kind === 'multi_option'

/** If the recorded call needed no approval, the new approval is granted; the comparison reports it. */
function answerOf(
  task: TaskRecord,
  played: ReturnType<Recording['peek']>,
  recording: Recording,
): Omit<GivenAnswer, 'by'> | undefined {
  if (task.kind === 'aitl_escalation') {
    const textValue = recording.nextAnswer()
    return textValue === undefined ? undefined : { textValue }
  }
  if (!played) return undefined
  if (isQuestion(task)) {
    const value = played.result?.value
    if (task.kind === 'number') return typeof value === 'number' ? { numberValue: value } : undefined
    if (typeof value !== 'string') return undefined
    return task.kind === 'text' ? { textValue: value } : { selectedOptionId: value }
  }
  if ((task.kind !== 'approval' && task.kind !== 'escalation') || task.callId === undefined) return undefined
  // The recording has no answer to it either.
  if (played.approved === undefined && !played.result) return undefined
  const approved = played.approved ?? played.decision !== 'deny'
  const digest = task.argumentsDigest
  return {
    approved,
    metadata: { 'svc/acknowledged': true, ...(digest !== undefined && { 'svc/arguments_digest': digest }) },
  }
}

function textIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  return isJsonObject(value ?? null) && typeof (value as { text?: unknown }).text === 'string'
    ? (value as { text: string }).text
    : undefined
}

/** The run and those below it. */
async function familyOf(store: Store, root: Run): Promise<ReadonlySet<string>> {
  const ids = new Set<string>([root.id])
  for (const { id, parentRunId } of (await store.runsOfSession(root.sessionId)).toSorted((a, b) => a.depth - b.depth))
    if (parentRunId !== null && ids.has(parentRunId)) ids.add(id)
  return ids
}

/** Publishes a version and those that it may delegate to, as they are deployed now. */
async function publishClosure(from: Store, to: Store, root: AgentVersion): Promise<void> {
  const versions = new Map<string, AgentVersion>()
  const deployed = new Map<string, AgentVersion>()
  const add = async (version: AgentVersion): Promise<void> => {
    if (versions.has(version.id)) return
    versions.set(version.id, version)
    for (const { digest, id } of version.snapshot.agents) {
      const agent = (await from.agents(version.workspaceId)).find(({ name }) => name === id)
      const child = digest
        ? await from.versionByDigest(version.workspaceId, digest)
        : agent?.deployedVersionId && (await from.version(agent.deployedVersionId))
      if (!child) continue
      if (!digest) deployed.set(child.agentId, child)
      await add(child)
    }
  }
  await add(root)
  const { workspaceId, publishedAt: at, publishedBy: by } = root
  for (const { id, agentId, snapshot, closureDigest } of versions.values())
    await to.publish({ workspaceId, agents: [{ id, agentId, snapshot, closureDigest }], documents: [], at, by })
  for (const { agentId, id } of deployed.values()) await to.deploy(agentId, id, at, by)
}
