/** Starting a run. Source: HTTP API, "POST /v1/agents/{agentId}/runs"; decisions, section 4. */
import { fail } from '../base/failure.ts'
import type { RunId, SessionId, TriggerId } from '../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { pointerTo } from '../base/json/pointer.ts'
import type { StartRunResponse } from '../spec/api.ts'
import { describeUnpriced, isPricedIn, type Money } from '../spec/price.ts'
import type { Session } from '../spec/session.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { StartOutcome } from '../store/start-outcome.ts'
import type { SessionTree, SessionUpdate } from '../store/session-update.ts'
import type { AgentVersion } from '../store/version-rows.ts'
import { checkForeignValue } from '../tools/check.ts'
import { advanceRun } from './machine/advance.ts'
import { newRun } from './calls/delegate.ts'
import type { TransitionContext } from './session/context.ts'
import { openTransaction } from './session/open-transaction.ts'
import type { EngineParts, StartRequest } from './session/engine.ts'
import { claimOf, closeClaim, findRepeated, toRepeated } from './session/repeated-request.ts'

/** @param adopt takes over the stored session; not called when no run was started */
export async function startSession(
  parts: EngineParts,
  request: StartRequest,
  adopt: (update: SessionUpdate) => void,
): Promise<StartRunResponse> {
  const { store } = parts
  const { idempotency } = request
  const claim = idempotency && claimOf(parts, request.principal, `POST /v1/agents/${request.agentId}/runs`, idempotency)
  const before = claim && (await findRepeated(parts, claim))
  if (before) return before as unknown as StartRunResponse
  const version = await readDeployedVersion(parts, request)
  const input = parts.redactor.json(request.input)
  await checkInput(version.snapshot, input)
  await checkFiles(parts, request, input)
  await checkConfiguration(parts, version, request.sessionId)
  const update = firstUpdate(parts, request, version, input)
  const response: StartRunResponse = {
    sessionId: update.session.id,
    runId: update.session.rootRunId,
    status: 'Running',
    totalTokensUsed: 0,
    output: null,
    agentId: request.agentId,
    triggerId: request.triggerId,
    pending: [],
  }
  const started = await store.start(update, request.limits, claim && closeClaim(claim, response))
  if (started.outcome !== 'started') return toResponse(started)
  adopt(update)
  return response
}

/** The response to a start that starts no run. */
function toResponse(started: StartOutcome): StartRunResponse {
  switch (started.outcome) {
    case 'replayed':
    case 'key_reused':
      return toRepeated(started) as unknown as StartRunResponse
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

async function readDeployedVersion(
  { store }: EngineParts,
  { agentId, workspaceId }: StartRequest,
): Promise<AgentVersion> {
  const agent = await store.agent(agentId)
  if (!agent || agent.workspaceId !== workspaceId) throw fail('not_found', { what: 'agent' })
  const version = agent.deployedVersionId && (await store.version(agent.deployedVersionId))
  if (!version) throw fail('no_deployed_version', { agent: agent.name })
  return version
}

async function checkInput({ id, inputContract }: AgentSnapshot, input: JsonObject): Promise<void> {
  if (inputContract === undefined) return
  const found = await checkForeignValue(inputContract, input)
  const details = found.map(({ path, message }) => ({ path: `/input${path}`, message }))
  if (details.length > 0) throw fail('input_contract_violation', { agent: id }, { details })
}

async function checkFiles({ store }: EngineParts, { workspaceId }: StartRequest, input: JsonObject): Promise<void> {
  for (const { path, filename } of fileMarksIn(input, '/input')) {
    const about = (message: string) => ({ details: [{ path: `${path}/filename`, message }] })
    if (typeof filename !== 'string')
      throw fail(
        'validation_failed',
        { what: `The body is not valid: ${path}/filename must be the leaf name of a file.` },
        about('must be the leaf name of a file'),
      )
    if (!(await store.fileByName(workspaceId, filename)))
      throw fail('file_not_found', { filename }, about('names no finalized file'))
  }
}

interface FileMark {
  readonly path: string
  readonly filename: unknown
}

/** Objects marked as files, with their JSON pointers, whether or not their file name is valid. */
function fileMarksIn(value: JsonValue, path: string): readonly FileMark[] {
  const marks: FileMark[] = []
  const keys: (string | number)[] = []
  const enter = (key: string | number, each: JsonValue): void => {
    if (typeof each !== 'object' || each === null) return
    keys.push(key)
    visit(each)
    keys.pop()
  }
  const visit = (each: JsonValue): void => {
    if (Array.isArray(each)) for (let at = 0; at < each.length; at++) enter(at, each[at]!)
    else if (!isJsonObject(each)) return
    else if (each['svcFile'] === true)
      marks.push({ path: keys.reduce<string>(pointerTo, path), filename: each['filename'] })
    else for (const key in each) enter(key, each[key]!)
  }
  visit(value)
  return marks
}

/** Fails early for a missing provider or secret, for every agent whose version is already fixed. */
async function checkConfiguration(
  { store, providers, tools }: EngineParts,
  root: AgentVersion,
  sessionId?: SessionId,
): Promise<void> {
  const seen = new Set<string>()
  const check = async ({ snapshot, workspaceId }: AgentVersion, above: readonly Money[] = []): Promise<void> => {
    const key = JSON.stringify([snapshot.digest, ...above.map(({ currency }) => currency)])
    if (seen.has(key)) return
    seen.add(key)
    const caps = [...above, ...(snapshot.maxCost ? [snapshot.maxCost] : [])]
    for (const model of [snapshot.model, ...(snapshot.fallback ?? [])]) {
      providers.choose(snapshot, model, sessionId)
      const { price } = providers.terms(model, sessionId)
      const cap = caps.find(({ currency }) => !isPricedIn(price, currency))
      if (cap) throw fail('price_unknown', { what: describeUnpriced({ model, cap }) })
    }
    const unset = tools.findUnsetSecret(snapshot, sessionId)
    if (unset) throw fail('secret_not_set', unset)
    for (const { digest } of snapshot.agents) {
      const child = digest && (await store.versionByDigest(workspaceId, digest))
      if (child) await check(child, caps)
    }
  }
  await check(root)
}

function firstUpdate(
  parts: EngineParts,
  request: StartRequest,
  version: AgentVersion,
  input: JsonObject,
): SessionUpdate {
  const { snapshot } = version
  const { metadata = {}, tags = [] } = request
  const now = parts.clock.now()
  const run = newRun(version, {
    id: parts.ids.next<'run'>() as RunId,
    sessionId: request.sessionId ?? (parts.ids.next<'session'>() as SessionId),
    parentRunId: null,
    parentCallId: null,
    depth: 0,
    input,
    startedAt: now,
  })
  const session: Session = {
    id: run.sessionId,
    workspaceId: request.workspaceId,
    agentId: request.agentId,
    agentName: snapshot.id,
    agentVersionId: version.id,
    versionLabel: snapshot.version,
    llmModel: snapshot.model.name,
    triggerType: request.triggerType,
    triggeredBy: request.principal.type === 'schedule' ? null : request.principal.id,
    person: request.principal.type === 'api_key' ? request.principal.person : null,
    triggerId: request.triggerId as TriggerId | null,
    triggerName: request.triggerName,
    rootRunId: run.id,
    status: 'Running',
    totalTokensUsed: 0,
    runCount: 1,
    output: null,
    error: null,
    input,
    startContext: {
      userInput: input,
      version: snapshot.version,
      llmModel: snapshot.model.name,
      limits: { ...snapshot.limits },
      instructionsDigest: snapshot.instructions.digest,
      bundleDigest: version.closureDigest,
    },
    startedAt: now,
    finishedAt: null,
    version: 0,
    lastSeq: 0,
    lastOrdinal: 0,
    ...(Object.keys(metadata).length > 0 && { metadata: parts.redactor.json(metadata) }),
    ...(tags.length > 0 && { tags: parts.redactor.json(tags) }),
  }
  const tree: SessionTree = { session, runs: [], tasks: [] }
  const tx = openTransaction(tree, initialContext(parts, version, now))
  const root = tx.addRun(run)
  root.addEvent('session', 'engine.session.started', { status: 'Running', output: null, error: null })
  advanceRun(root, { type: 'started' })
  return tx.toUpdate()!
}

/** The context of a first transition: there are no calls, children or slots yet. */
const initialContext = (parts: EngineParts, version: AgentVersion, now: number): TransitionContext => ({
  now,
  ids: parts.ids,
  snapshotOf: () => version.snapshot,
  childOf: () => undefined,
  routeOf: () => undefined,
  describedBy: () => undefined,
  stepsOf: () => [],
  calls: new Map(),
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
  maxIterations: parts.maxIterations ?? 100,
  jitter: 0,
})
