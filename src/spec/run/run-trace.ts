/**
 * The trace that a run belongs to, and the ids of its spans. Both follow from what is stored, so calls that leave today and spans that
 * another process exports days later agree. Source: docs/design/models-and-tools.md#traces
 */
import {
  below,
  beginTrace,
  parseTraceparent,
  spanIdOf,
  type TraceContext,
  type TraceParent,
} from '../../base/trace-context.ts'
import type { Run } from './run.ts'

type TracedRun = Pick<Run, 'id' | 'usage'>

/** The context that its caller gave to the run, or that of a trace of its own. */
const contextOfRun = ({ id, usage }: TracedRun): TraceContext => usage.trace ?? beginTrace(id)

/** Trace and parent span of a run; the parent is absent where the run begins its trace. */
export function traceOfRun(run: TracedRun): Omit<TraceParent, 'spanId'> & { readonly parentSpanId?: string } {
  const { traceId, flags, spanId } = parseTraceparent(contextOfRun(run).traceparent)!
  return { traceId, flags, ...(run.usage.trace && { parentSpanId: spanId }) }
}

export const spanOfRun = ({ id }: Pick<Run, 'id'>): string => spanIdOf(id)
/** Of a call, whichever attempt it is. */
export const spanOfCall = ({ id }: Pick<Run, 'id'>, callId: string): string => spanIdOf(id, 'call', callId)
/** Of the completion of a turn, whichever attempt it is. */
export const spanOfTurn = ({ id }: Pick<Run, 'id'>, turn: number): string => spanIdOf(id, 'turn', turn)

/** What a call, or the run that it starts, is told of the trace. */
export const traceOfCall = (run: TracedRun, callId: string): TraceContext =>
  below(contextOfRun(run), spanOfCall(run, callId))

/** What a model is told of the trace. */
export const traceOfTurn = (run: TracedRun, turn: number): TraceContext =>
  below(contextOfRun(run), spanOfTurn(run, turn))
