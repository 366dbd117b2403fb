/**
 * Sessions as OpenTelemetry traces, exported when they have ended: the store knows every time, so a trace is whole also over
 * days of waiting and restarts. Only the OpenTelemetry API is a dependency; operators load an SDK into the process. Spans of a
 * run join the trace that its caller named. Source: docs/design/command-line.md#serving
 */
import type { Attributes, Context, Span, SpanContext, SpanKind, SpanStatusCode, Tracer } from '@opentelemetry/api'
import type { Log } from '../../base/log.ts'
import type { Run } from '../../spec/run.ts'
import { traceOfRun } from '../../spec/run-trace.ts'
import type { Session } from '../../spec/session.ts'
import type { RunStep } from '../../spec/step.ts'
import type { Store } from '../../store/store.ts'
import { describeRunSpan, describeStepSpan } from './genai-spans.ts'

export interface Telemetry {
  readonly tracer: Tracer
  /** The context in which a span is the parent of those that are started. */
  readonly below: (span: Span) => Context
  /** The context in which spans are below one of another process. */
  readonly belowRemote: (span: SpanContext) => Context
  readonly kinds: { readonly client: SpanKind; readonly internal: SpanKind }
  readonly errorCode: SpanStatusCode
}

/** @param version of svc, as the instrumentation scope names it */
export async function openTelemetry(version: string): Promise<Telemetry> {
  const { context, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  return {
    tracer: trace.getTracer('svc', version),
    below: (span) => trace.setSpan(context.active(), span),
    belowRemote: (span) => trace.setSpanContext(context.active(), span),
    kinds: { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL },
    errorCode: SpanStatusCode.ERROR,
  }
}

/** A store that exports the trace of every session that ends. A failed export affects no run. */
export const withSpans = (store: Store, telemetry: Telemetry, log: Log): Store => ({
  ...store,
  async save(update, ...more) {
    const lease = await store.save(update, ...more)
    const { session } = update
    if (session.finishedAt === null) return lease
    // The caller does not wait for the export.
    exportSession(store, telemetry, session).catch((error: unknown) =>
      log.write('warn', 'a trace could not be exported', { sessionId: session.id, error: String(error) }),
    )
    return lease
  },
})

/** Exports what ended now: the newest root run and those below it. Earlier ones were exported when they ended. */
async function exportSession(store: Store, telemetry: Telemetry, session: Session): Promise<void> {
  const runs = await store.treesOf(session.id, [session.rootRunId])
  const ids = new Set(runs.map(({ id }) => id))
  const steps = await store.stepsSince(session.id, session.rootRunId)
  recordSessionSpans(
    telemetry,
    session,
    runs,
    steps.filter(({ runId }) => ids.has(runId)),
  )
}

function recordSessionSpans(
  { tracer, below, belowRemote, kinds, errorCode }: Telemetry,
  session: Session,
  runs: readonly Run[],
  steps: readonly RunStep[],
): void {
  const begin = (
    name: string,
    kind: SpanKind,
    from: Timed,
    attributes: Attributes,
    parent: Context | undefined,
  ): Span => tracer.startSpan(name, { kind, startTime: from.startedAt, attributes }, parent)
  const end = (span: Span, { error, finishedAt }: Timed): void => {
    if (error !== null) span.setStatus({ code: errorCode })
    span.end(finishedAt ?? session.finishedAt ?? undefined)
  }
  const recordRunSpans = (run: Run, parent: Context | undefined): void => {
    const { name, attributes } = describeRunSpan(run)
    const span = begin(name, kinds.internal, run, attributes, parent)
    for (const step of steps) {
      if (step.runId !== run.id) continue
      const described = describeStepSpan(step, steps)
      if (!described) continue
      const inside = begin(described.name, kinds[described.kind], step, described.attributes, below(span))
      const child = runs.find(
        (each) => each.parentRunId === run.id && each.parentCallId === step.content['tool_call_id'],
      )
      if (step.type === 'SubAgentCall' && child) recordRunSpans(child, below(inside))
      end(inside, step)
    }
    end(span, run)
  }
  for (const run of runs) {
    if (run.parentRunId !== null) continue
    const caller = callerOf(run)
    recordRunSpans(run, caller && belowRemote(caller))
  }
}

/** The span of whoever started the run; undefined where nobody named one. */
function callerOf(run: Run): SpanContext | undefined {
  const { traceId, flags, parentSpanId } = traceOfRun(run)
  return parentSpanId === undefined ? undefined : { traceId, spanId: parentSpanId, traceFlags: flags, isRemote: true }
}

interface Timed {
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly error: string | null
}
