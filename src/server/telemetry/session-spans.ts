/**
 * The spans of what happened in a session between two of its events. Ids, times and parents follow from what is stored, so that every
 * process tells the same, also days later. Source: docs/design/telemetry.md#spans
 */
import type { RunId, SessionId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { spanIdOf } from '../../base/trace-context.ts'
import type { StoredEvent } from '../../spec/event.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import { spanOfCall, spanOfRun, spanOfTurn, traceOfRun } from '../../spec/run/run-trace.ts'
import type { StepType } from '../../spec/step.ts'
import type { Store } from '../../store/store.ts'
import type { TraceMark } from '../../store/trace-store.ts'
import {
  describeRunSpan,
  describeStepSpan,
  describeStretchSpan,
  type DescribedSpan,
  type TracedStep,
} from './genai-mapping.ts'

export interface TracedSpan extends DescribedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parent?: { readonly spanId: string; readonly isRemote: boolean }
  readonly flags: number
  /** No caller named the trace. */
  readonly isBegunHere: boolean
  readonly startedAt: number
  readonly endedAt: number
  readonly isFailed: boolean
  /** The run before it in the session. */
  readonly link?: { readonly traceId: string; readonly spanId: string; readonly flags: number }
}

type SpanStore = Pick<Store, 'events' | 'run' | 'stepsOfRun' | 'newestRuns'>

/** Events that are read at once. What is left of a session is read with the next look. */
const MOST_EVENTS = 500

/** @returns the spans that end there, and up to which event they reach; no more of the session is known where that is before `ready` */
export async function readSpans(
  store: SpanStore,
  { sessionId, sent, ready }: Pick<TraceMark, 'sessionId' | 'sent' | 'ready'>,
  withContent: boolean,
): Promise<{ readonly spans: readonly TracedSpan[]; readonly upTo: number }> {
  const page = await store.events(sessionId, sent, MOST_EVENTS)
  const events = page.filter(({ seq }) => seq <= ready)
  const upTo = page.length < MOST_EVENTS ? ready : (events.at(-1)?.seq ?? ready)
  const runs = new Map<RunId, Promise<TracedRun | undefined>>()
  const runOf = (id: RunId): Promise<TracedRun | undefined> => {
    const known = runs.get(id) ?? readRun(store, id, sessionId, events)
    runs.set(id, known)
    return known
  }
  const spans: TracedSpan[] = []
  for (const event of events) {
    const traced = await runOf(event.runId)
    const span =
      traced && (event.kind === 'step' ? endStep(event, traced, withContent) : endWork(event, traced, withContent))
    if (span) spans.push(span)
  }
  return { spans, upTo }
}

interface TracedRun {
  readonly run: Run
  readonly isBegunHere: boolean
  /** In order; those before the events, too. */
  readonly steps: readonly TracedStep[]
  readonly previous: Run | undefined
  /** Since when it has worked. */
  workingSince: number | undefined
  /** Its span is exported; what an operator resumed afterwards is told as work. */
  hasEnded: boolean
}

async function readRun(
  store: SpanStore,
  id: RunId,
  sessionId: SessionId,
  events: readonly StoredEvent[],
): Promise<TracedRun | undefined> {
  const run = await store.run(id)
  if (!run) return undefined
  const own = events.filter((event) => event.runId === id)
  const begins = own.some(({ subject }) => subject === 'engine.run.started')
  const told = own.flatMap((event) => (endsStep(event) ? (stepOf(event) ?? []) : []))
  const known = new Set(told.map(({ ordinal }) => ordinal))
  const since = own[0]?.ts ?? 0
  const before = begins
    ? []
    : (await store.stepsOfRun(id)).filter(({ ordinal, startedAt }) => startedAt <= since && !known.has(ordinal))
  const steps = [...before, ...told].toSorted((a, b) => a.ordinal - b.ordinal)
  const isRoot = run.parentRunId === null && begins
  const previous = isRoot
    ? (await store.newestRuns(sessionId, id, 1)).find((each) => each.parentRunId === null)
    : undefined
  const isBegunHere = (await rootOf(store, run)).usage.trace === undefined
  return { run, isBegunHere, steps, previous, workingSince: undefined, hasEnded: before.some(resumesEnded) }
}

async function rootOf(store: SpanStore, run: Run): Promise<Run> {
  const above = run.parentRunId === null ? undefined : await store.run(run.parentRunId)
  return above ? await rootOf(store, above) : run
}

const resumesEnded = ({ type, content }: TracedStep): boolean =>
  type === 'RunResumed' && typeof content['status'] === 'string' && isTerminal(content['status'])

const endsStep = ({ kind, subject }: StoredEvent): boolean => kind === 'step' && subject !== 'engine.step.started'

/** The step of an event; undefined where its content is not that of a step. */
function stepOf({ data, runId }: StoredEvent): TracedStep | undefined {
  const { step } = data
  if (!isJsonObject(step)) return undefined
  const timeOf = (name: string): number | null => (typeof step[name] === 'string' ? Date.parse(step[name]) : null)
  return {
    runId,
    type: step['type'] as StepType,
    ordinal: Number(step['ordinal']),
    content: isJsonObject(step['content']) ? step['content'] : NO_CONTENT,
    error: typeof step['error'] === 'string' ? step['error'] : null,
    startedAt: timeOf('startedAt') ?? 0,
    finishedAt: timeOf('finishedAt'),
  }
}

const NO_CONTENT: JsonObject = {}

function endStep(event: StoredEvent, traced: TracedRun, withContent: boolean): TracedSpan | undefined {
  const { run, steps } = traced
  const step = endsStep(event) ? stepOf(event) : undefined
  if (!step) return undefined
  const earlier = steps.filter(({ ordinal }) => ordinal < step.ordinal)
  const callId = step.content['tool_call_id']
  const result =
    step.type === 'ToolCall'
      ? steps.find(
          ({ type, ordinal, content }) =>
            type === 'ToolResult' && ordinal > step.ordinal && content['tool_call_id'] === callId,
        )
      : undefined
  const described = describeStepSpan(step, { run, earlier, withContent, ...(result && { result }) })
  if (!described) return undefined
  return {
    ...described,
    ...inTrace(traced),
    spanId: spanOfStep(run, step, earlier),
    parent: { spanId: spanOfRun(run), isRemote: false },
    startedAt: step.startedAt,
    endedAt: step.finishedAt ?? event.ts,
    isFailed: described.attributes['error.type'] !== undefined,
  }
}

/** What a model or tool was told is the span of its turn or call; attempts before the last one have ids of their own. */
function spanOfStep(run: Run, { type, ordinal, content, error }: TracedStep, earlier: readonly TracedStep[]): string {
  const callId = content['tool_call_id']
  if ((type === 'ToolCall' || type === 'SubAgentCall') && typeof callId === 'string' && (content['attempt'] ?? 1) === 1)
    return spanOfCall(run, callId)
  if (type === 'Reasoning' && error === null) return spanOfTurn(run, 1 + earlier.filter(isAnswer).length)
  return spanIdOf(run.id, 'step', ordinal)
}

const isAnswer = ({ type, error }: TracedStep): boolean => type === 'Reasoning' && error === null

/** The work up to a pause, and the whole run at its end. */
function endWork(event: StoredEvent, traced: TracedRun, withContent: boolean): TracedSpan | undefined {
  const { kind, subject, ts, seq, data } = event
  const { run } = traced
  // Events of sub-agents are told by the run above them, too.
  if (kind !== 'run' || !subject.startsWith('engine.run.')) return undefined
  if (subject === 'engine.run.started' || subject === 'engine.run.resumed') {
    traced.workingSince ??= ts
    return undefined
  }
  const status = typeof data['status'] === 'string' ? data['status'] : ''
  const since = traced.workingSince ?? ts
  traced.workingSince = undefined
  if (isTerminal(status) && !traced.hasEnded) return endRun(traced, status, ts, withContent)
  return {
    ...describeStretchSpan(run, status),
    ...inTrace(traced),
    spanId: spanIdOf(run.id, 'work', seq),
    parent: { spanId: spanOfRun(run), isRemote: false },
    startedAt: since,
    endedAt: ts,
    isFailed: status === 'Failed',
  }
}

function endRun(traced: TracedRun, status: string, endedAt: number, withContent: boolean): TracedSpan {
  const { run, previous } = traced
  traced.hasEnded = true
  const { parentSpanId } = traceOfRun(run)
  const described = describeRunSpan(run, status, withContent)
  return {
    ...described,
    ...inTrace(traced),
    spanId: spanOfRun(run),
    ...(parentSpanId !== undefined && { parent: { spanId: parentSpanId, isRemote: run.parentRunId === null } }),
    startedAt: run.startedAt,
    endedAt,
    isFailed: status === 'Failed',
    ...(previous && { link: { ...traceOf(previous), spanId: spanOfRun(previous) } }),
  }
}

const inTrace = ({ run, isBegunHere }: TracedRun) => ({ ...traceOf(run), isBegunHere })

function traceOf(run: Run): { readonly traceId: string; readonly flags: number } {
  const { traceId, flags } = traceOfRun(run)
  return { traceId, flags }
}
