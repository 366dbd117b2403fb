/** The recording of a run for playback: results of its calls and answers of people. */
import { digestOfJson } from '../../base/digest.ts'
import { isJsonObject, textOf, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { RunStep } from '../../spec/step.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { mediaOf, type ToolMedia } from '../../spec/tool-media.ts'

/** A call as a model made it, before anybody edited its arguments. */
export interface RecordedCall {
  readonly runId: string
  readonly callId: string
  /** Wire name. */
  readonly name: string
  readonly arguments: JsonValue
  /** The last policy decision; undefined without one. */
  readonly decision?: string
  readonly result?: {
    readonly value: JsonValue
    readonly isError: boolean
    readonly ordinal: number
    readonly media?: readonly ToolMedia[]
  }
  /** The answer of people; undefined without one. */
  readonly approved?: boolean
}

/** The calls of a run and those below it, in the order in which they were made. */
export function recordedCalls(steps: readonly RunStep[], tasks: readonly TaskRecord[]): readonly RecordedCall[] {
  const about = new Map<string, { decision?: string; result?: RecordedCall['result'] }>()
  const keyOf = (runId: string, callId: JsonValue | undefined): string => `${runId} ${textOf(callId)}`
  for (const { type, runId, content, hidden, ordinal } of steps) {
    const key = keyOf(runId, content['tool_call_id'])
    if (type === 'PolicyDecision') about.set(key, { ...about.get(key), decision: textOf(content['decision']) })
    if (type === 'ToolResult' && content['probe_of'] === undefined)
      about.set(key, {
        ...about.get(key),
        result: {
          value: content['result'] ?? null,
          isError: content['is_error'] === true,
          ordinal,
          media: mediaOf(hidden),
        },
      })
    if (type === 'SubAgentResult')
      about.set(key, {
        ...about.get(key),
        result: { value: content['output'] ?? null, isError: content['status'] !== 'Completed', ordinal },
      })
  }
  const said = new Map(
    tasks.flatMap(({ kind, runId, callId, answer }) =>
      (kind === 'approval' || kind === 'escalation') && answer?.approved !== undefined
        ? [[keyOf(runId, callId), answer.approved] as const]
        : [],
    ),
  )
  return steps.flatMap(({ type, error, runId, content }) =>
    type === 'Reasoning' && error === null
      ? callsIn(content).map(({ id, name, arguments: given }): RecordedCall => {
          const { decision, result } = about.get(keyOf(runId, id)) ?? {}
          const approved = said.get(keyOf(runId, id))
          return {
            runId,
            callId: textOf(id),
            name: textOf(name),
            arguments: given ?? null,
            ...(decision !== undefined && { decision }),
            ...(result && { result }),
            ...(approved !== undefined && { approved }),
          }
        })
      : [],
  )
}

const callsIn = (content: JsonObject): readonly JsonObject[] =>
  (Array.isArray(content['tool_calls']) ? content['tool_calls'] : []).filter(isJsonObject)

/** Equal for calls of one name with equal arguments. */
export const sameCallKey = ({ name, arguments: given }: Pick<RecordedCall, 'name' | 'arguments'>): string =>
  `${name} ${digestOfJson(given)}`

export interface Recording {
  /** The next call like this that was not played yet. */
  peek(call: Pick<RecordedCall, 'name' | 'arguments'>): RecordedCall | undefined
  /** Marks it as played. */
  take(call: Pick<RecordedCall, 'name' | 'arguments'>): RecordedCall | undefined
  /** The next answer of a person to a question of a sub-agent. */
  nextAnswer(): string | undefined
}

export function createRecording(calls: readonly RecordedCall[], tasks: readonly TaskRecord[]): Recording {
  const left = new Map<string, RecordedCall[]>()
  for (const call of calls) left.set(sameCallKey(call), [...(left.get(sameCallKey(call)) ?? []), call])
  const answers = tasks.flatMap(({ kind, answer }) =>
    kind === 'aitl_escalation' && answer?.textValue !== undefined ? [answer.textValue] : [],
  )
  return {
    peek: (call) => left.get(sameCallKey(call))?.[0],
    take: (call) => left.get(sameCallKey(call))?.shift(),
    nextAnswer: () => answers.shift(),
  }
}
