/**
 * Sessions as OpenTelemetry traces, exported when they have ended: the store knows every time, so a trace is whole also over
 * days of waiting and restarts. Only the OpenTelemetry API is a dependency; operators load an SDK into the process. Names follow the
 * semantic conventions for generative AI; prompts, arguments and answers are in no span. Source: docs/design/command-line.md#serving
 */
import type { Attributes, Context, Span, SpanStatusCode, Tracer } from '@opentelemetry/api'
import type { Log } from '../../base/log.ts'
import type { Run } from '../../spec/run.ts'
import type { Session } from '../../spec/session.ts'
import type { RunStep } from '../../spec/step.ts'
import type { Store } from '../../store/store.ts'

export interface Telemetry {
  readonly tracer: Tracer
  /** The context in which a span is the parent of those that are started. */
  readonly below: (span: Span) => Context
  readonly errorCode: SpanStatusCode
}

/** @param version of svc, as the instrumentation scope names it */
export async function openTelemetry(version: string): Promise<Telemetry> {
  const { context, SpanStatusCode, trace } = await import('@opentelemetry/api')
  return {
    tracer: trace.getTracer('svc', version),
    below: (span) => trace.setSpan(context.active(), span),
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
  { tracer, below, errorCode }: Telemetry,
  session: Session,
  runs: readonly Run[],
  steps: readonly RunStep[],
): void {
  const begin = (name: string, from: Timed, attributes: Attributes, parent: Span | undefined): Span =>
    tracer.startSpan(name, { startTime: from.startedAt, attributes }, parent && below(parent))
  const end = (span: Span, { error, finishedAt }: Timed): void => {
    if (error !== null) span.setStatus({ code: errorCode })
    span.end(finishedAt ?? session.finishedAt ?? undefined)
  }
  const recordRunSpans = (run: Run, parent: Span | undefined): void => {
    const { agentName } = run
    const span = begin(
      `invoke_agent ${agentName}`,
      run,
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agentName,
        'gen_ai.agent.id': run.agentId,
        'gen_ai.conversation.id': session.id,
        'gen_ai.usage.input_tokens': run.usage.inputTokens,
        'gen_ai.usage.output_tokens': run.usage.outputTokens,
        'svc.run.id': run.id,
        'svc.run.status': run.status,
        'svc.agent.version': run.versionLabel,
        ...(run.errorCode !== null && { 'error.type': run.errorCode }),
      },
      parent,
    )
    for (const step of steps) {
      if (step.runId !== run.id) continue
      const named = nameOf(step, run)
      if (!named) continue
      const inside = begin(named.name, step, { ...named.attributes, 'svc.step.ordinal': step.ordinal }, span)
      const child = runs.find(
        (each) => each.parentRunId === run.id && each.parentCallId === step.content['tool_call_id'],
      )
      if (step.type === 'SubAgentCall' && child) recordRunSpans(child, inside)
      end(inside, step)
    }
    end(span, run)
  }
  for (const run of runs) if (run.parentRunId === null) recordRunSpans(run, undefined)
}

interface Timed {
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly error: string | null
}

/** Steps that take time; the others are facts of the timeline. */
function nameOf({ type, content }: RunStep, { llmModel }: Run): { name: string; attributes: Attributes } | undefined {
  const text = (key: string): string => (typeof content[key] === 'string' ? content[key] : '')
  switch (type) {
    case 'Reasoning':
      return {
        name: `chat ${llmModel ?? ''}`.trim(),
        attributes: { 'gen_ai.operation.name': 'chat', ...(llmModel !== null && { 'gen_ai.request.model': llmModel }) },
      }
    case 'ToolCall': {
      const tool = text('ref') || text('name')
      return {
        name: `execute_tool ${tool}`,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': text('tool_call_id'),
        },
      }
    }
    case 'SubAgentCall':
      return { name: `delegate ${text('agent')}`, attributes: { 'gen_ai.tool.call.id': text('tool_call_id') } }
    case 'UserTaskReq':
      return { name: `wait ${text('kind')}`, attributes: { 'svc.task.id': text('user_task_id') } }
    default:
      return undefined
  }
}
