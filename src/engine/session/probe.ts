/**
 * The tool with which a person looks whether a call of unknown outcome happened: read-only, named by the author of the other.
 * Source: reliability, "Records and protocol".
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ToolCall } from '../../spec/run.ts'
import type { BoundTool, AgentSnapshot } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { toolNamed } from './bindings.ts'

/** What a look came to, as the task keeps it. */
export interface ProbeResult {
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
  readonly durationMs: number
}

/** Label of a Tool document: the logical id of the tool with which one looks whether a call of this one happened. */
export const PROBE = 'svc/probe'

/** The probe that a call's task offers, as its `context.probe`; undefined where the agent binds no such tool. */
export function probeFor(snapshot: AgentSnapshot, call: ToolCall, key: string): JsonObject | undefined {
  const wanted = toolNamed(snapshot, call.name)?.labels[PROBE]
  const tool = snapshot.tools.find(({ id }) => id === wanted)
  // Looking must change nothing, whatever the author meant.
  if (tool?.sideEffectClass !== 'read_only' || tool.builtin) return undefined
  return { name: tool.wire, ref: tool.id, arguments: argumentsOf(tool, call, key) }
}

/** What the last look found, for a person who says that it happened and gives no result. */
export function foundBy(task: TaskRecord): JsonValue | undefined {
  const probe = task.context?.['probe']
  const found = isJsonObject(probe) ? probe['found'] : undefined
  return isJsonObject(found) && found['is_error'] !== true ? found['result'] : undefined
}

/** Those arguments of the call that the probe knows, and the call's key where it asks for one. */
function argumentsOf({ inputSchema }: BoundTool, { arguments: given }: ToolCall, key: string): JsonObject {
  const call = isJsonObject(given) ? given : {}
  const known = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined
  if (!isJsonObject(known)) return call
  return Object.fromEntries(
    Object.entries({ idempotency_key: key, ...call }).filter(([name]) => Object.hasOwn(known, name)),
  )
}
