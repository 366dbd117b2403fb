/** Recorded policy decisions, for `policy explain` and `policy backtest`. */
import type { RecordedDecision } from '../../../operations/decisions.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { Session } from '../../../spec/run/session.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { SessionPosition } from '../../../store/queries.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { rememberSnapshots, type SnapshotLookup } from '../../../policy/replay/recorded-facts.ts'
import { findAgent, findRun, findVersion, notFoundFailure } from '../find/find.ts'
import { parseSince } from '../runs.ts'
import { toRecordedDecision } from './recorded-decision.ts'

/** Sessions or steps read per query, which blocks other work. */
const PAGE = 200

interface DecisionFilter {
  /** The whole tree of a run. */
  readonly run?: string
  readonly agent?: string
  readonly since?: string
}

/** Oldest first. @param pause called after each session; lets other work run */
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
  return await mergeInTurns(newestFirst.toReversed(), pause)
}

/** Oldest first. Merges pairs of lists; lists that are already in order cost one comparison. */
async function mergeInTurns(
  lists: readonly (readonly RecordedDecision[])[],
  pause: () => Promise<void> | void,
): Promise<readonly RecordedDecision[]> {
  let merged = lists
  while (merged.length > 1) {
    const next: (readonly RecordedDecision[])[] = []
    for (let at = 0; at < merged.length; at += 2) {
      next.push(await mergeTwo(merged[at] ?? [], merged[at + 1] ?? [], pause))
      await pause()
    }
    merged = next
  }
  return merged[0] ?? []
}

/** Decisions merged before other work may run. */
const MERGED_AT_ONCE = 5000

async function mergeTwo(
  a: readonly RecordedDecision[],
  b: readonly RecordedDecision[],
  pause: () => Promise<void> | void,
): Promise<readonly RecordedDecision[]> {
  const merged: RecordedDecision[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    const [first, second] = [a[i], b[j]]
    if (first !== undefined && (second === undefined || first.recordedAt <= second.recordedAt)) {
      merged.push(first)
      i++
    } else if (second !== undefined) {
      merged.push(second)
      j++
    }
    if (merged.length % MERGED_AT_ONCE === 0) await pause()
  }
  return merged
}

/** Published versions, each read once. */
export const snapshotsOf = (services: ServerServices): SnapshotLookup =>
  rememberSnapshots(async (agent, label) => {
    const { snapshot } = await findVersion(services, await findAgent(services, agent), label)
    return snapshot
  })

/** Newest first. A page starts where the last one ended, so that late pages cost no more than the first. */
async function* eachSession({ store, workspace }: ServerServices): AsyncGenerator<Session> {
  for (let after: SessionPosition | null | undefined; after !== null;) {
    const page = { skip: 0, take: PAGE, wholeBytes: 0, ...(after && { after }) }
    const { items, next } = await store.sessions({ workspaceId: workspace.id }, page)
    yield* items
    after = next
  }
}

export async function sessionOf(services: ServerServices, run: string): Promise<Session> {
  const session = await services.store.session((await findRun(services, run)).sessionId)
  if (!session) throw notFoundFailure('run')
  return session
}

type VersionSnapshots = (id: Run['agentVersionId']) => AgentSnapshot | undefined | Promise<AgentSnapshot | undefined>

/** Each version is read once. */
export function rememberVersions({ store }: ServerServices): VersionSnapshots {
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
  if (session.erasedAt !== undefined) return []
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
    const named = decided.map((step) => ({ step, name: { runId: step.runId, callId: callIdOf(step) } }))
    const names = named.map(({ name }) => name)
    const calls = names.length === 0 ? [] : await store.callsNamed(session.id, names)
    const callOf = new Map(calls.map((call) => [`${call.runId} ${call.callId}`, call]))
    for (const { step, name } of named) {
      const run = runOf.get(step.runId)
      const call = callOf.get(`${name.runId} ${name.callId}`)
      if (!run || !call) continue
      const looked = snapshotOf(run.agentVersionId)
      const snapshot = looked instanceof Promise ? await looked : looked
      if (snapshot) found.push(toRecordedDecision(step, session, run, call, snapshot, runsAbove(run, runOf)))
    }
    await pause()
    if (steps.length < PAGE) return found
    after = steps.at(-1)?.ordinal ?? after
  }
}

/** The runs above one, the nearest first. */
export function runsAbove({ parentRunId }: Run, runs: ReadonlyMap<string, Run>): readonly Run[] {
  const parent = parentRunId === null ? undefined : runs.get(parentRunId)
  return parent ? [parent, ...runsAbove(parent, runs)] : []
}

const callIdOf = ({ content }: RunStep): string =>
  typeof content['tool_call_id'] === 'string' ? content['tool_call_id'] : ''
