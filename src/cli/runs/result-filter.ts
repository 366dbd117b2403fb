import { canonicalJson, isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { stepOf, type StreamEvent } from '../../client/index.ts'

export interface ResultFilter {
  /** Events to show now: a message of the root run is held until the event after it says whether it is the output. */
  add(event: StreamEvent): readonly StreamEvent[]
  /** The message that is still held at the end. */
  end(): readonly StreamEvent[]
}

/** Leaves out the message that is the run's output: the command prints the output itself, once. */
export function createResultFilter(rootRunId: string): ResultFilter {
  let held: StreamEvent | undefined
  const release = (): readonly StreamEvent[] => {
    const released = held ? [held] : []
    held = undefined
    return released
  }
  return {
    add(event) {
      const step = event.data.runId === rootRunId ? stepOf(event) : undefined
      if (held && step?.type === 'OutputValidation' && contentField(event, 'valid') === true) return []
      if (held && step?.type === 'Output' && isSameValue(contentField(held, 'text'), contentField(event, 'output')))
        held = undefined
      const shown = release()
      if (step?.type !== 'Reasoning') return [...shown, event]
      held = event
      return shown
    },
    end: release,
  }
}

function contentField(event: StreamEvent, name: string): JsonValue | undefined {
  const content: unknown = stepOf(event)?.content
  return isJsonObject(content) ? content[name] : undefined
}

/** True if a message consists of this value, as the text itself or as JSON. */
function isSameValue(text: JsonValue | undefined, output: JsonValue | undefined): boolean {
  if (typeof text !== 'string' || output === undefined) return false
  if (text === output) return true
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(output)
  } catch {
    return false
  }
}
