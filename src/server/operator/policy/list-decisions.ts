/** GET /decisions: recorded policy decisions of a run, an agent or the workspace. */
import type { Digest } from '../../../base/digest.ts'
import { giveWay, startWork, takeTurns } from '../../../base/event-loop.ts'
import type { RunId, SessionId } from '../../../base/ids.ts'
import { canonicalJson } from '../../../base/json/json.ts'
import type { RecordedDecision } from '../../../operations/decisions.ts'
import type { OperatorList } from '../../../operations/schema.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { Session } from '../../../spec/run/session.ts'
import { REFERENCE_BYTES, toReference } from '../../../spec/value-reference.ts'
import type { DecisionMark } from '../../../store/queries.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { findRun, notFoundFailure } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { runsAbove, collectDecisions, rememberVersions } from './decisions.ts'
import { toRecordedDecision } from './recorded-decision.ts'

/** A page of a run, as its timeline shows it, or all decisions that match. */
export const listDecisions: OperatorAction<'GET /decisions'> = async ({ services, query, call }) => {
  const { run, take } = query
  if (run !== undefined && take !== undefined) return await readDecisionPage(services, { ...query, run, take })
  const found = await collectDecisions(services, query, takeTurns(call.request.signal))
  const isNamed = (each: RecordedDecision): boolean =>
    [each.decisionId, each.toolCallId, each.argsDigest].includes(query.with ?? '')
  const skipped = query.skip ?? (take === undefined ? 0 : startAround(found.length, take, found.findLastIndex(isNamed)))
  const page = found.slice(skipped, take && skipped + take)
  const items = query.values === 'ref' ? page.map(withReference) : page
  return { items, total: found.length, ...(skipped > 0 && { skipped }) }
}

/** The digest of the arguments is that of their canonical text, under which they are read. */
function withReference(decision: RecordedDecision): RecordedDecision {
  const bytes = Buffer.byteLength(canonicalJson(decision.arguments))
  if (bytes <= REFERENCE_BYTES) return decision
  const reference = toReference(decision.runId as RunId, decision.argsDigest as Digest, bytes)
  return { ...decision, arguments: { ...reference } }
}

/** Marks read per query, which blocks other work. */
const MARKS = 1000

interface DecisionPageQuery {
  readonly run: string
  readonly take: number
  readonly skip?: number
  /** Without `skip`, the page has this decision, call or digest of arguments; without both it is the last one. */
  readonly with?: string
  readonly values?: 'ref'
}

/** A page of the tree of a run: of the other decisions it reads nothing but which calls they are about. */
async function readDecisionPage(
  services: ServerServices,
  { run: id, take, skip, with: name, values }: DecisionPageQuery,
): Promise<OperatorList<RecordedDecision> & { readonly skipped?: number }> {
  const { store } = services
  const run = await findRun(services, id)
  const session = await store.session(run.sessionId)
  if (!session) throw notFoundFailure('run')
  if (session.erasedAt !== undefined) return { items: [], total: 0 }
  const runs = new Map((await store.treesOf(session.id, [run.id])).map((each) => [each.id, each]))
  const marks = await readMarks(services, session.id, [...runs.keys()])
  const skipped = skip ?? (await startOfPage(services, session.id, marks, take, name))
  const page = await readDecisions(services, session, runs, marks.slice(skipped, skipped + take))
  const items = values === 'ref' ? page.map(withReference) : page
  return { items, total: marks.length, ...(skipped > 0 && { skipped }) }
}

async function readMarks(
  { store }: ServerServices,
  id: SessionId,
  runIds: readonly RunId[],
): Promise<readonly DecisionMark[]> {
  const all: DecisionMark[] = []
  for (;;) {
    const tookLong = startWork()
    const page = await store.decisionMarks(id, runIds, all.at(-1)?.ordinal ?? 0, MARKS)
    all.push(...page)
    if (page.length < MARKS) return all
    if (tookLong()) await giveWay()
  }
}

/** Where the last page begins, or the one that has what is named. */
async function startOfPage(
  { store }: ServerServices,
  id: SessionId,
  marks: readonly DecisionMark[],
  take: number,
  name: string | undefined,
): Promise<number> {
  if (name === undefined) return startAround(marks.length, take, -1)
  let at = marks.findLastIndex(({ decisionId, callId }) => decisionId === name || callId === name)
  // From the newest back, a page at a time, because a digest stands with its call.
  for (let to = marks.length; at === -1 && to > 0; to -= MARKS) {
    const some = marks.slice(Math.max(0, to - MARKS), to)
    const calls = await store.callsNamed(id, some)
    const named = new Set(calls.filter((call) => call.argumentsDigest === name).map(keyOf))
    const found = some.findLastIndex((mark) => named.has(keyOf(mark)))
    if (found !== -1) at = Math.max(0, to - MARKS) + found
  }
  return startAround(marks.length, take, at)
}

/** Where the page begins that has the entry at `at`, and others before and after it; the last page for -1. */
function startAround(total: number, take: number, at: number): number {
  const last = Math.max(0, total - take)
  return at === -1 ? last : Math.min(last, Math.max(0, at - Math.floor(take / 2)))
}

async function readDecisions(
  services: ServerServices,
  session: Session,
  runs: ReadonlyMap<RunId, Run>,
  marks: readonly DecisionMark[],
): Promise<readonly RecordedDecision[]> {
  if (marks.length === 0) return []
  const { store } = services
  const [steps, calls] = await Promise.all([
    store.stepsAt(
      session.id,
      marks.map(({ ordinal }) => ordinal),
    ),
    store.callsNamed(session.id, marks),
  ])
  const callOf = new Map(calls.map((call) => [keyOf(call), call]))
  const markOf = new Map(marks.map((mark) => [mark.ordinal, mark]))
  const snapshotOf = rememberVersions(services)
  const found: RecordedDecision[] = []
  for (const step of steps) {
    const run = runs.get(step.runId)
    const mark = markOf.get(step.ordinal)
    const call = mark && callOf.get(keyOf(mark))
    const snapshot = run && (await snapshotOf(run.agentVersionId))
    if (run && call && snapshot)
      found.push(toRecordedDecision(step, session, run, call, snapshot, runsAbove(run, runs)))
  }
  return found
}

const keyOf = ({ runId, callId }: { readonly runId: RunId; readonly callId: string }): string => `${runId} ${callId}`
