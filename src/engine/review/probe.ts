/**
 * The probe: a read-only tool, named by the author of another tool, that checks whether a call of unknown outcome happened.
 * Source: docs/design/approvals.md#unknown-outcomes
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ToolCall } from '../../spec/run/run.ts'
import type { BoundTool, AgentSnapshot } from '../../spec/snapshot.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { toolNamed } from '../session/bindings.ts'

/** The result of a probe. */
export interface ProbeResult {
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
  readonly durationMs: number
}

/** Label of a Tool document; its value is the logical id of the probe tool. */
export const PROBE = 'svc/probe'

/** The probe that a call's task offers, as its `context.probe`; undefined where the agent binds no such tool. */
export function probeFor(snapshot: AgentSnapshot, call: ToolCall, key: string): JsonObject | undefined {
  const wanted = toolNamed(snapshot, call.name)?.labels[PROBE]
  const tool = snapshot.tools.find(({ id }) => id === wanted)
  // A probe must have no side effects, whatever its author declared.
  if (tool?.sideEffectClass !== 'read_only' || tool.builtin) return undefined
  return { name: tool.wire, ref: tool.id, arguments: argumentsOf(tool, call, key) }
}

/** The result of the last probe, for a person who says that the call happened and gives no result. */
export function lastProbeResult(task: TaskRecord): JsonValue | undefined {
  const probe = task.context?.['probe']
  const found = isJsonObject(probe) ? probe['found'] : undefined
  return isJsonObject(found) && found['is_error'] !== true ? found['result'] : undefined
}

/** The arguments of the call that the probe declares, and the idempotency key if it declares one. */
function argumentsOf({ inputSchema }: BoundTool, { arguments: given }: ToolCall, key: string): JsonObject {
  const call = isJsonObject(given) ? given : {}
  const known = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined
  if (!isJsonObject(known)) return call
  return Object.fromEntries(
    Object.entries({ idempotency_key: key, ...call }).filter(([name]) => Object.hasOwn(known, name)),
  )
}
