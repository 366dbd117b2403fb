/** Stored events of a run, read from its stream until what is stored ends. */
import type { StreamEvent } from '../../spec/api.ts'

export interface NumberedEvent {
  readonly number: number
  readonly event: StreamEvent
}

/** More than anybody reads; the rest is in `svc stream`. */
const MAX_EVENTS = 2000
/** Silence after which nothing more is stored. */
const QUIET_MS = 300

/** Reads what is stored now; a later change is another reading. */
export function readEvents(runId: string): Promise<readonly NumberedEvent[]> {
  return new Promise((resolve) => {
    const events: NumberedEvent[] = []
    const source = new EventSource(`/v1/runs/${encodeURIComponent(runId)}/stream`)
    const end = (): void => {
      clearTimeout(timer)
      source.close()
      resolve(events)
    }
    let timer = setTimeout(end, QUIET_MS * 5)
    source.addEventListener('message', ({ lastEventId, data }) => {
      clearTimeout(timer)
      timer = setTimeout(end, QUIET_MS)
      // Text as it arrives has no number: its step follows.
      if (lastEventId === '' || events.at(-1)?.number === Number(lastEventId)) return
      events.push({ number: Number(lastEventId), event: JSON.parse(data as string) as StreamEvent })
      if (events.length >= MAX_EVENTS) end()
    })
    source.addEventListener('error', end)
  })
}
