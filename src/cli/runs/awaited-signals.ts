/** Which signals a run waits for, as its timeline says. Source: docs/design/steering.md#waits-outside */
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { RunStatus, SvcClient } from '../../client/index.ts'
import type { TimelineItem } from '../../spec/api.ts'
import { readWhole } from '../../client/whole-conversation.ts'

/** `parcel.delivered, data as {"type":"object"} (svc signal 77d0c4 parcel.delivered DATA)`; none where a key does not see them. */
export async function readAwaitedSignals(client: SvcClient, { runId, hold }: RunStatus): Promise<readonly string[]> {
  if (hold?.reason !== 'signal') return []
  const { items } = await readWhole((cursor) =>
    client.getConversation(runId, { stepContent: 'slim', ...(cursor !== undefined && { cursor }) }),
  )
  return awaitedSignals(items).map(({ name, schema }) => {
    const data = schema === undefined ? '' : `, data as ${safeJson(schema)}`
    return `${safeText(name)}${data} (svc signal ${shortId(runId)} ${safeText(name)}${schema === undefined ? '' : ' DATA'})`
  })
}

export interface AwaitedSignal {
  readonly name: string
  readonly schema?: JsonValue
}

/** The calls of `svc.wait_event` that have no result. A call that never began to wait has one: its error. */
export function awaitedSignals(items: readonly Pick<TimelineItem, 'type' | 'runId' | 'content'>[]): AwaitedSignal[] {
  const steps = items.map(({ type, runId, content }) => {
    const fields = (content ?? {}) as JsonObject
    return { type, fields, key: JSON.stringify([runId, fields['tool_call_id']]) }
  })
  const ended = new Set(steps.flatMap(({ type, key }) => (type === 'ToolResult' ? [key] : [])))
  return steps.flatMap(({ type, fields, key }) => {
    const given = fields['arguments'] ?? null
    if (type !== 'ToolCall' || fields['ref'] !== 'svc.wait_event' || ended.has(key) || !isJsonObject(given)) return []
    const { name, schema } = given
    return typeof name === 'string' ? [{ name, ...(schema !== undefined && { schema }) }] : []
  })
}
