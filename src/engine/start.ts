/** Starting a run. Source: docs/design/http.md#start */
import { toIsoText, type Instant } from '../base/clock.ts'
import { fail, isFailure } from '../base/failure.ts'
import type { RunId, SessionId, TriggerId } from '../base/ids.ts'
import { isJsonObject, type JsonObject } from '../base/json/json.ts'
import { fromJson } from '../base/json/typed-json.ts'
import type { NewAct } from '../spec/people/act.ts'
import type { StartRunResponse } from '../spec/api.ts'
import type { Run } from '../spec/run/run.ts'
import type { Session } from '../spec/run/session.ts'
import type { RunStarter } from '../spec/run/starter.ts'
import type { StartOutcome } from '../store/start-outcome.ts'
import type { SessionTree, SessionUpdate } from '../store/session-update.ts'
import type { AgentRow, AgentVersion } from '../store/version-rows.ts'
import { newRun } from './calls/delegate.ts'
import { checkConfiguration, checkStarter, checkStartFiles, checkInput, checkNotPaused } from './check-start.ts'
import { checkContinuable, loadContinued } from './continue-session.ts'
import type { SessionDriver } from './drive/drive.ts'
import { planRoomOf } from './drive/plan-room.ts'
import { advanceRun } from './machine/advance.ts'
import type { PlanRoom, TransitionContext } from './transaction/context.ts'
import type { EngineParts, StartRequest } from './interface/engine.ts'
import { createCompletionToken } from './session/completion-token.ts'
import { NO_RELATED_CALLS } from './session/related-calls.ts'
import { openTransaction } from './transaction/open-transaction.ts'
import { claimOf, closeClaim, findRepeated, toRepeated, type OpenClaim } from './interface/repeated-request.ts'

type StartDriver = Pick<SessionDriver, 'beginStart' | 'reload' | 'readRestore'>

/** @param driver takes over the stored session; not called when no run was started */
export async function startSession(
  parts: EngineParts,
  request: StartRequest,
  driver: StartDriver,
): Promise<StartRunResponse> {
  const { idempotency, continued } = request
  const claim = idempotency && claimOf(parts, request.principal, `POST /v1/agents/${request.agentId}/runs`, idempotency)
  const repeated = claim && (await findRepeated(parts, claim))
  if (repeated) return fromJson<StartRunResponse>(repeated, 'runId', 'sessionId')
  if (continued) await checkContinuable(parts, continued.sessionId)
  const version = await readVersion(parts, request)
  checkStarter(version, request.byClient)
  await checkNotPaused(parts, version)
  const input = parts.redactor.json(request.input)
  await checkInput(version.snapshot, input)
  await checkStartFiles(parts, request, input)
  await checkConfiguration(parts, version, continued?.sessionId ?? request.sessionId)
  return await storeStart(parts, request, driver, version, input, claim)
}

/** Stores the start; again if its session was changed meanwhile, or if the run has to wait for the plan of the workspace. */
async function storeStart(
  parts: EngineParts,
  request: StartRequest,
  driver: StartDriver,
  version: AgentVersion,
  input: JsonObject,
  claim: OpenClaim | undefined,
): Promise<StartRunResponse> {
  const { continued } = request
  let room: PlanRoom = 'free'
  for (;;) {
    const update = continued
      ? await nextUpdate(parts, request, version, input, continued.sessionId)
      : firstUpdate(parts, request, version, input, room)
    const response = toStartResponse(request, update)
    // A session that continues, or repeats another one, is read again with its history before this process takes it.
    // The same if the store is held: whether the session is, only the store decides.
    const isHeld = (await driver.readRestore())?.releasedAt === null
    const start = continued || request.origin || isHeld ? undefined : driver.beginStart()
    let started: StartOutcome
    try {
      started = await parts.store.start(update, request.limits, claim && closeClaim(claim, response), start?.holder)
    } catch (error) {
      // Another start or a late outcome changed the session first, so check again whether it may continue.
      if (continued && isFailure(error, 'run_moved_on')) continue
      // The run is accepted and waits for budget that completions in flight leave.
      const answered: PlanRoom | undefined = room === 'free' ? planRoomOf(error) : undefined
      if (!answered) throw error
      room = answered
      continue
    }
    if (started.outcome !== 'started') return toResponse(started)
    if (start) start.adopt(update)
    else driver.reload(update)
    return response
  }
}

const toStartResponse = ({ agentId, triggerId }: StartRequest, { session }: SessionUpdate): StartRunResponse => ({
  sessionId: session.id,
  runId: session.rootRunId,
  status: session.status,
  totalTokensUsed: 0,
  output: null,
  agentId,
  triggerId,
  pending: [],
})

/** The response to a start that starts no run. */
function toResponse(started: StartOutcome): StartRunResponse {
  switch (started.outcome) {
    case 'replayed':
    case 'key_reused':
      return fromJson<StartRunResponse>(toRepeated(started), 'runId', 'sessionId')
    case 'rate_limited':
      throw fail('rate_limited', { limit: started.limit }, { retryAfterSeconds: started.retryAfterSeconds })
    case 'concurrency_limited':
      throw fail('concurrency_limited', { limit: started.limit }, { retryAfterSeconds: 1 })
    case 'plan_limited':
      throw fail('plan_limit_exceeded', { limit: started.limit, value: started.value })
    case 'started':
      throw new Error('A start that began a run is answered by its run.')
  }
}

/**
 * The requested version, else the deployed one. A continued session may run a version that was yanked since; no new session
 * begins with one.
 * @throws Failure `not_found`, `no_deployed_version`, `deployment_expired`, `version_not_deployable`, `version_yanked`
 */
async function readVersion(
  { store, clock }: EngineParts,
  { agentId, workspaceId, continued, principal, versionId: asked }: StartRequest,
): Promise<AgentVersion> {
  const agent = await store.agent(agentId)
  if (!agent || agent.workspaceId !== workspaceId) throw fail('not_found', { what: 'agent' })
  if (asked !== undefined && asked !== agent.deployedVersionId) {
    const version = await store.version(asked)
    if (version?.agentId !== agentId || version.workspaceId !== workspaceId)
      throw fail('not_found', { what: 'version' })
    // Otherwise a key could run a version that was never deployed, or was yanked, or whose time is over.
    if (principal.type !== 'operator') {
      const deployment = await store.lastDeployment(agentId, asked)
      if (!deployment || version.yanked)
        throw fail('version_not_deployable', { id: version.snapshot.id, version: version.snapshot.version })
      refuseEnded(clock, agent, version, deployment.until)
    }
    const { snapshot, yankReason: reason } = version
    if (!continued && version.yanked)
      throw fail('version_yanked', { id: snapshot.id, version: snapshot.version, reason, act: 'executed' })
    return version
  }
  const version = agent.deployedVersionId && (await store.version(agent.deployedVersionId))
  if (!version) throw fail('no_deployed_version', { agent: agent.name })
  refuseEnded(clock, agent, version, agent.deployedUntil)
  return version
}

function refuseEnded(
  clock: EngineParts['clock'],
  { name: agent }: AgentRow,
  { snapshot: { version } }: AgentVersion,
  until: Instant | null,
): void {
  if (until !== null && clock.now() >= until) throw fail('deployment_expired', { agent, version, at: toIsoText(until) })
}

/** A new session with its root run. */
function firstUpdate(
  parts: EngineParts,
  request: StartRequest,
  version: AgentVersion,
  input: JsonObject,
  room: PlanRoom,
): SessionUpdate {
  const now = parts.clock.now()
  const fresh = newRootRun(parts, version, input, now, request.sessionId ?? (parts.ids.next<'session'>() as SessionId))
  const run = { ...fresh, usage: tracedUsage(fresh, request), ...(request.origin && { origin: request.origin }) }
  const session: Session = { ...firstSession(version, run, starterOf(request)), ...labelsOf(parts, request) }
  const tree: SessionTree = { session, runs: [], tasks: [] }
  const plan = parts.plan && { cap: parts.plan, room }
  const context = { ...contextOf(parts, version, now), plan }
  // A run that repeats another one is read again with that run's calls before anything is sent.
  const tx = openTransaction(tree, { ...context, maySend: request.origin === undefined })
  const root = tx.addRun(run)
  root.addEvent('session', 'engine.session.started', { status: 'Running', output: null, error: null })
  advanceRun(root, { type: 'started' })
  tx.recordAct(actOfStart(request, run))
  return { ...tx.toUpdate()!, ...(request.follows && { follows: request.follows }) }
}

/** A session as its first root run begins. */
export const firstSession = (version: AgentVersion, run: Run, starter: RunStarter): Session => ({
  id: run.sessionId,
  workspaceId: version.workspaceId,
  agentId: version.agentId,
  agentName: version.snapshot.id,
  ...starter,
  ...rootOf(run.id, version, run.input),
  status: 'Running',
  totalTokensUsed: 0,
  // The transaction that adds the run counts it.
  runCount: 0,
  output: null,
  error: null,
  startedAt: run.startedAt,
  finishedAt: null,
  version: 0,
  lastSeq: 0,
  lastOrdinal: 0,
})

/**
 * A new root run of a session. It is only recorded here: whoever holds the session sends its first completion.
 * @throws Failure `session_not_ended`, `session_erased`, `session_limit_reached`
 */
async function nextUpdate(
  parts: EngineParts,
  request: StartRequest,
  version: AgentVersion,
  input: JsonObject,
  sessionId: SessionId,
): Promise<SessionUpdate> {
  const { tree, said, calls, lastAt, inherited } = await loadContinued(parts, sessionId, version)
  const now = Math.max(parts.clock.now(), lastAt)
  const fresh = newRootRun(parts, version, input, now, sessionId)
  const run = { ...fresh, usage: { ...tracedUsage(fresh, request), ...inherited }, starter: starterOf(request) }
  const { session: before } = tree
  const entryRunId = before.entryRunId ?? before.rootRunId
  const session: Session = { ...before, entryRunId, ...rootOf(run.id, version, input), ...labelsOf(parts, request) }
  const context: TransitionContext = {
    ...contextOf(parts, version, now),
    said,
    calls,
    maySend: false,
  }
  const tx = openTransaction({ ...tree, session }, context)
  const root = tx.addRun(run)
  root.addEvent('session', 'engine.session.resumed', { status: 'Running', output: null, error: null })
  advanceRun(root, { type: 'started' })
  tx.recordAct(actOfStart(request, run))
  return { ...tx.toUpdate()!, labels: labelsOf(parts, request) }
}

/** The act of a start names the run that it starts, and says so where its subject is another one. */
export const actOfStart = ({ act }: { readonly act?: NewAct }, { id, sessionId }: Run): NewAct | undefined =>
  act &&
  (act.runId === null
    ? { ...act, runId: id, sessionId }
    : { ...act, after: { ...(isJsonObject(act.after) && act.after), run: id } })

export const newRootRun = (
  { ids }: EngineParts,
  version: AgentVersion,
  input: JsonObject,
  startedAt: number,
  sessionId: SessionId,
) =>
  newRun(version, {
    id: ids.next<'run'>() as RunId,
    sessionId,
    parentRunId: null,
    parentCallId: null,
    depth: 0,
    input,
    startedAt,
  })

const tracedUsage = ({ usage }: Run, { trace }: StartRequest): Run['usage'] => ({ ...usage, ...(trace && { trace }) })

const starterOf = ({ principal, triggerType, triggerId, triggerName }: StartRequest): RunStarter => ({
  triggerType,
  triggeredBy: principal.type === 'schedule' ? null : principal.id,
  person: principal.type === 'api_key' ? principal.person : null,
  triggerId: triggerId as TriggerId | null,
  triggerName,
})

/** The fields that a session takes from its newest root run. */
const rootOf = (rootRunId: RunId, { id, snapshot, closureDigest }: AgentVersion, input: JsonObject) => ({
  rootRunId,
  agentVersionId: id,
  versionLabel: snapshot.version,
  llmModel: snapshot.model.name,
  input,
  startContext: {
    userInput: input,
    version: snapshot.version,
    llmModel: snapshot.model.name,
    limits: { ...snapshot.limits },
    instructionsDigest: snapshot.instructions.digest,
    bundleDigest: closureDigest,
  },
})

const labelsOf = ({ redactor }: EngineParts, { metadata, tags }: StartRequest) => ({
  ...(metadata && { metadata: redactor.json(metadata) }),
  ...(tags && { tags: redactor.json(tags) }),
})

/** The context of a first transition: there are no calls, children or slots yet. */
export const contextOf = (parts: EngineParts, version: AgentVersion, now: number): TransitionContext => ({
  now,
  ids: parts.ids,
  snapshotOf: () => version.snapshot,
  childOf: () => undefined,
  routeOf: () => undefined,
  describedBy: () => undefined,
  stepsOf: () => [],
  said: [],
  calls: new Map(),
  relatedCalls: NO_RELATED_CALLS,
  callsElsewhere: [],
  revoked: new Set(),
  attachedTexts: () => [],
  effectsOf: () => [],
  maySend: true,
  callsAtOnce: 0,
  takeSlot: () => false,
  mostOutput: ({ model, fallback = [] }) =>
    Math.max(...[model, ...fallback].map((each) => parts.providers.maxOutputTokens(each))),
  termsOf: (model) => parts.providers.terms(model),
  spentOn: () => undefined,
  newToken: createCompletionToken,
  // A paused tool or provider holds the run later, when it is first needed.
  pauses: [],
  outages: { laterThan: () => undefined, failed() {} },
  maxIterations: parts.maxIterations ?? 100,
  jitter: 0,
})
