/** Steps and tasks as timelines show them. Source: docs/design/runs-and-recovery.md#timeline */
import { setImmediate } from 'node:timers/promises'
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId, TaskId } from '../../base/ids.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { Conversation, RunSummary, SessionBody, TimelineItem } from '../../spec/api.ts'
import { starterAbove } from '../../spec/run/run-starter.ts'
import type { Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStep, StepType } from '../../spec/step.ts'
import { toTaskContent } from '../../view/task/task-content.ts'
import { toTimelineItem } from '../../view/timeline-item.ts'
import type { RunStarter } from '../../spec/run/starter.ts'
import type { StepSize } from '../../store/queries.ts'
import type { SessionStore } from '../../store/session-store.ts'

/** A conversation whose timeline is read in pages, so that a long one does not block other requests. */
export interface PagedConversation extends Conversation {
  /** The items after `items`, in order; absent when there are none. A page may be empty. */
  readonly more?: AsyncIterable<readonly TimelineItem[]>
  /** True for a root run that has an item. */
  readonly isRootRun: (runId: string) => boolean
  /** Bytes of the contents of the items, first ones first; those of a long timeline are not all there. */
  readonly sizes?: readonly number[]
}

export interface ConversationPart {
  /** Items after this ordinal; 0 when absent. */
  readonly after?: number
  /** Items of these types alone. */
  readonly only?: readonly StepType[]
  /** Items that the reader takes at most. One more is read, which says that there are more. */
  readonly take?: number
}

/** Steps per page, and bytes: so few that they are read, converted and written in a millisecond or two. */
const PAGE = 100
const PAGE_BYTES = 1024 * 1024
/** Sizes per query, and sizes known before the first page. */
const SIZES = 2000
const KNOWN_SIZES = 20_000

/**
 * The conversation of a session as it is now. Later pages leave out steps that were added after the first.
 * @throws Failure `not_found`
 */
export async function conversationOf(
  store: SessionStore,
  id: SessionId,
  { after = 0, only, take = Infinity }: ConversationPart = {},
): Promise<PagedConversation> {
  const session = await store.session(id)
  if (!session) throw fail('not_found', { what: 'session' })
  const runs = await readNewestRuns(store, id)
  const runById = new Map(runs.map((run) => [run.id, run]))
  const addOlder = async (ids: readonly RunId[]): Promise<void> => {
    const wanted = ids.filter((each) => !runById.has(each))
    if (wanted.length > 0) for (const run of await store.treesOf(id, wanted)) runById.set(run.id, run)
  }
  // The starter of a run is that of its root, which may be older than those that are listed.
  await addOlder(runs.flatMap(({ parentRunId }) => (parentRunId === null ? [] : [parentRunId])))
  const perQuery = only ? SIZES : Math.min(SIZES, take + 1)
  const readSizes = async (from: number) => {
    const read = await store.stepSizes(id, from, perQuery)
    const last = read.at(-1)
    const isLast = read.length < perQuery || last === undefined || last.ordinal >= session.lastOrdinal
    const sizes = read.filter(
      ({ ordinal, type }) => ordinal <= session.lastOrdinal && (only === undefined || only.includes(type)),
    )
    return { sizes, next: isLast ? undefined : last.ordinal }
  }
  const known: StepSize[] = []
  let next: number | undefined = after
  while (next !== undefined && known.length < Math.min(KNOWN_SIZES, take + 1)) {
    if (known.length > 0) await setImmediate()
    const read = await readSizes(next)
    known.push(...read.sizes)
    next = read.next
  }
  const readPages = async function* (sizes: readonly StepSize[]): AsyncGenerator<readonly TimelineItem[]> {
    for (const group of groupSteps(sizes)) {
      const steps = await store.stepsAfter(id, group[0]!.ordinal - 1, group.length)
      await addOlder(steps.map(({ runId }) => runId))
      yield await Promise.all(steps.map((step) => toItem(store, step, runById.get(step.runId)!)))
      await setImmediate()
    }
  }
  const pages = (async function* () {
    yield* readPages(known)
    for (let from = next; from !== undefined;) {
      const read = await readSizes(from)
      yield* readPages(read.sizes)
      from = read.next
    }
  })()
  const first = await pages.next()
  const isWhole = next === undefined && groupSteps(known).length <= 1
  return {
    session: toSessionBody(session),
    runs: runs.map((run) => toRunSummary(run, starterAbove(run, runById, session), session.erasedAt !== undefined)),
    items: first.done ? [] : first.value,
    ...(!isWhole && { more: pages }),
    ...(session.runCount > runs.length && { runsLeftOut: session.runCount - runs.length }),
    isRootRun: (runId) => runById.get(runId as RunId)?.parentRunId === null,
    sizes: known.map(({ bytes }) => bytes),
  }
}

/** Runs of an answer at most, the newest, of up to 1 KB each without their values: half of an answer. Those read at once. */
const MAX_RUNS = 4000
const RUNS_PAGE = 500

async function readNewestRuns(store: SessionStore, id: SessionId): Promise<readonly Run[]> {
  let runs: readonly Run[] = []
  while (runs.length < MAX_RUNS) {
    const page = await store.newestRuns(id, runs[0]?.id ?? null, RUNS_PAGE)
    runs = [...page, ...runs]
    if (page.length < RUNS_PAGE) break
    await setImmediate()
  }
  return runs
}

/** Splits steps into pages; the steps of a page follow each other. */
function groupSteps(sizes: readonly StepSize[]): readonly (readonly StepSize[])[] {
  const groups: StepSize[][] = []
  let bytes = 0
  for (const size of sizes) {
    const group = groups.at(-1)
    const follows = group && group.length < PAGE && bytes + size.bytes <= PAGE_BYTES
    if (follows && group.at(-1)!.ordinal + 1 === size.ordinal) group.push(size)
    else {
      groups.push([size])
      bytes = 0
    }
    bytes += size.bytes
  }
  return groups
}

/** One item of a session's timeline; undefined where there is none of this ordinal. */
export async function timelineItemOf(
  store: SessionStore,
  id: SessionId,
  ordinal: number,
): Promise<TimelineItem | undefined> {
  const [step] = await store.stepsAfter(id, ordinal - 1, 1)
  const run = step?.ordinal === ordinal ? await store.run(step.runId) : undefined
  return step && run && toItem(store, step, run)
}

/** A request shows its task as it is now, not as it was created. */
async function toItem(store: SessionStore, step: RunStep, run: Run): Promise<TimelineItem> {
  const id = step.type === 'UserTaskReq' ? step.content['user_task_id'] : undefined
  const task = typeof id === 'string' ? await store.task(id as TaskId) : undefined
  return toTimelineItem(step, run, task ? toJson(toTaskContent(task)) : step.content)
}

/** A session as timelines and session lists show it. Erased content is null. */
export function toSessionBody(session: Session): SessionBody {
  const isErased = session.erasedAt !== undefined
  return {
    id: session.id,
    tenantId: session.workspaceId,
    agentId: session.agentId,
    agentVersionId: session.agentVersionId,
    llmModel: session.llmModel,
    triggerType: session.triggerType,
    triggeredBy: session.triggeredBy,
    triggerId: session.triggerId,
    triggerName: session.triggerName,
    status: session.status,
    totalTokensUsed: session.totalTokensUsed,
    output: session.output,
    error: session.error,
    startedAt: toIsoText(session.startedAt),
    finishedAt: isoOrNull(session.finishedAt),
    input: isErased ? null : session.input,
    startContext: isErased ? null : session.startContext,
    ...(session.title !== undefined && { title: session.title }),
    ...(session.metadata && { metadata: session.metadata }),
    ...(session.tags && { tags: session.tags }),
    ...(session.erasedAt !== undefined && { erasedAt: toIsoText(session.erasedAt) }),
  }
}

function toRunSummary(run: Run, starter: RunStarter, isErased: boolean): RunSummary {
  return {
    id: run.id,
    sessionId: run.sessionId,
    agentId: run.agentId,
    agentVersionId: run.agentVersionId,
    parentRunId: run.parentRunId,
    depth: run.depth,
    status: run.status,
    totalTokensUsed: run.usage.inputTokens + run.usage.outputTokens,
    output: run.output,
    error: run.error,
    startedAt: toIsoText(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    triggerType: starter.triggerType,
    triggeredBy: starter.triggeredBy,
    triggerId: starter.triggerId,
    triggerName: starter.triggerName,
    input: isErased ? null : run.input,
    llmModel: run.llmModel,
    agentName: run.agentName,
    versionLabel: run.versionLabel,
  }
}
