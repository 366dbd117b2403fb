/** Recorded policy decisions, for `policy explain` and `policy backtest`. */
import { toIsoText } from '../../../base/clock.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { RecordedDecision } from '../../../spec/operator/decide.ts'
import { starterAbove } from '../../../spec/run-starter.ts'
import type { Run } from '../../../spec/run.ts'
import type { Session } from '../../../spec/session.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { RunStarter } from '../../../spec/starter.ts'
import type { CallRow } from '../../../store/session-update.ts'
import type { SessionPosition } from '../../../store/queries.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { rememberSnapshots, type SnapshotLookup } from '../../../policy/replay/recorded-facts.ts'
import { findAgent, findRun, findVersion, notFoundFailure } from '../find/find.ts'
import { parseSince } from '../runs.ts'

/** Sessions or steps read per query: nobody else has a turn meanwhile. */
const PAGE = 200

export const listDecisions: OperatorAction<'GET /decisions'> = async ({ services, query }) => {
  const items = await collectDecisions(services, query)
  return { items, total: items.length }
}

interface DecisionFilter {
  /** The whole tree of a run. */
  readonly run?: string
  readonly agent?: string
  readonly since?: string
}

/** Oldest first. @param pause called after each session, so that others have their turn */
export async function collectDecisions(
  services: ServerServices,
  { run, agent, since }: DecisionFilter,
  pause: () => Promise<void> | void = () => {},
): Promise<readonly RecordedDecision[]> {
  const from = since === undefined ? 0 : parseSince(since)
  const wanted = { agent: agent && (await findAgent(services, agent)).id, from, snapshotOf: rememberVersions(services) }
  const sessions = run === undefined ? eachSession(services) : [await sessionOf(services, run)]
  const newestFirst: (readonly RecordedDecision[])[] = []
  for await (const session of sessions)
    if ((session.finishedAt ?? Infinity) >= from)
      newestFirst.push(await decisionsOf(services, session, { ...wanted, pause }))
  // Oldest first, as the decisions are: what is almost in order is sorted in one pass.
  const items = newestFirst.toReversed().flat()
  await pause()
  return items.sort((a, b) => (a.recordedAt < b.recordedAt ? -1 : a.recordedAt > b.recordedAt ? 1 : 0))
}

/** Published versions, each read once. */
export const snapshotsOf = (services: ServerServices): SnapshotLookup =>
  rememberSnapshots(async (agent, label) => {
    const { snapshot } = await findVersion(services, await findAgent(services, agent), label)
    return snapshot
  })

/** Newest first. A page starts where the one before ended, so that the last of many costs no more than the first. */
async function* eachSession({ store, workspace }: ServerServices): AsyncGenerator<Session> {
  for (let after: SessionPosition | null | undefined; after !== null;) {
    const page = { skip: 0, take: PAGE, wholeBytes: 0, ...(after && { after }) }
    const { items, next } = await store.sessions({ workspaceId: workspace.id }, page)
    yield* items
    after = next
  }
}

async function sessionOf(services: ServerServices, run: string): Promise<Session> {
  const session = await services.store.session((await findRun(services, run)).sessionId)
  if (!session) throw notFoundFailure('run')
  return session
}

type VersionSnapshots = (id: Run['agentVersionId']) => AgentSnapshot | undefined | Promise<AgentSnapshot | undefined>

/** Each version is read once. */
function rememberVersions({ store }: ServerServices): VersionSnapshots {
  const known = new Map<Run['agentVersionId'], AgentSnapshot | undefined>()
  return (id) => {
    if (known.has(id)) return known.get(id)
    return store.version(id).then((version) => {
      known.set(id, version?.snapshot)
      return version?.snapshot
    })
  }
}

async function decisionsOf(
  { store }: ServerServices,
  session: Session,
  {
    agent,
    from,
    snapshotOf,
    pause,
  }: {
    readonly agent: string | undefined
    readonly from: number
    readonly snapshotOf: VersionSnapshots
    readonly pause: () => Promise<void> | void
  },
): Promise<RecordedDecision[]> {
  const runs = await store.runsOfSession(session.id)
  if (agent !== undefined && runs.every(({ agentId }) => agentId !== agent)) return []
  const runOf = new Map(runs.map((run) => [run.id, run]))
  const found: RecordedDecision[] = []
  for (let after = 0; ;) {
    const steps = await store.stepsAfter(session.id, after, PAGE)
    const decided = steps.filter(
      ({ type, startedAt, runId }) =>
        type === 'PolicyDecision' && startedAt >= from && (agent === undefined || runOf.get(runId)?.agentId === agent),
    )
    const names = decided.map(({ runId, content }) => ({ runId, callId: textOf(content['tool_call_id']) }))
    const calls = names.length === 0 ? [] : await store.callsNamed(session.id, names)
    const callOf = new Map(calls.map((call) => [`${call.runId} ${call.callId}`, call]))
    for (const [at, step] of decided.entries()) {
      const run = runOf.get(step.runId)
      const call = callOf.get(`${step.runId} ${names[at]!.callId}`)
      if (!run || !call) continue
      const looked = snapshotOf(run.agentVersionId)
      const snapshot = looked instanceof Promise ? await looked : looked
      if (snapshot) found.push(toRecorded(step, session, run, call, snapshot, above(run, runOf)))
    }
    await pause()
    if (steps.length < PAGE) return found
    after = steps.at(-1)!.ordinal
  }
}

function above({ parentRunId }: Run, runs: ReadonlyMap<string, Run>): readonly Run[] {
  const parent = parentRunId === null ? undefined : runs.get(parentRunId)
  return parent ? [parent, ...above(parent, runs)] : []
}

function toRecorded(
  step: RunStep,
  session: Session,
  run: Run,
  call: CallRow,
  snapshot: AgentSnapshot,
  ancestors: readonly Run[],
): RecordedDecision {
  const { content } = step
  const tool = textOf(content['name'])
  const recorded = objectOf(step.hidden?.['facts'])
  return {
    decisionId: step.id,
    runId: run.id,
    sessionId: session.id,
    agent: run.agentName,
    versionLabel: run.versionLabel,
    ancestors: ancestors.map(({ agentName, versionLabel }) => ({ agent: agentName, versionLabel })),
    toolCallId: call.callId,
    tool,
    ref: call.ref,
    arguments: call.arguments,
    argsDigest: call.argumentsDigest,
    state: call.state,
    decision: textOf(content['decision']),
    explanation: textOf(content['explanation']),
    policies: Array.isArray(content['policies']) ? content['policies'] : [],
    recordedAt: toIsoText(step.startedAt),
    history: objectOf(recorded['history']) as RecordedDecision['history'],
    facts: factsOf(recorded, starterAbove(run, ancestors, session), run, call, tool, snapshot),
  }
}

/** The facts of a decision: those recorded with it, and those that never change. */
function factsOf(
  recorded: JsonObject,
  starter: RunStarter,
  run: Run,
  call: CallRow,
  wire: string,
  snapshot: AgentSnapshot,
): JsonObject {
  const { id, version, riskTier, classifications, labels } = snapshot
  const bound = snapshot.tools.find((each) => each.wire === wire)
  return {
    agent: {
      id,
      version,
      ...(riskTier !== undefined && { risk_tier: riskTier }),
      classifications: [...classifications],
      labels: { ...labels },
    },
    tool: bound
      ? {
          id: bound.id,
          version: bound.version,
          wire_name: wire,
          kind: bound.mcp ? 'mcp' : 'tool',
          ...(bound.mcp && { mcp_server: bound.mcp.server }),
          ...(bound.sideEffectClass && { side_effect_class: bound.sideEffectClass }),
          labels: { ...bound.labels },
        }
      : { id: call.ref, version: '', wire_name: wire, kind: 'agent', labels: {}, ...objectOf(recorded['tool']) },
    run: {
      depth: run.depth,
      is_subagent: run.depth > 0,
      trigger_type: starter.triggerType,
      ...objectOf(recorded['run']),
    },
    session: objectOf(recorded['session']),
    principal: {
      type: PRINCIPALS[starter.triggerType],
      id: starter.triggeredBy ?? '',
      ...(starter.triggerName !== null && { trigger_name: starter.triggerName }),
    },
    ...(isJsonObject(recorded['sources']) && { sources: recorded['sources'] }),
    ...(isJsonObject(recorded['effect']) && { effect: recorded['effect'] }),
    svc: { dispatch: { trigger: recorded['dispatch'] ?? 'none' }, limit: 'none' },
  }
}

const PRINCIPALS = { api: 'api_key', operator: 'operator', scheduled: 'schedule' } as const

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
