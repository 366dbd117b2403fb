/** Stored events of a run, read from its stream until what is stored ends. */
import { cutText } from '../../base/text/cut-text.ts'
import type { StreamEvent } from '../../spec/api.ts'

export interface EventLine {
  readonly number: number
  readonly at: string
  readonly subject: string
  /** The beginning of its data as JSON, without the ids of the run: an event may be as large as what it tells of. */
  readonly data: string
}

/** More than anybody reads; the rest is in `svc stream`. */
const MAX_EVENTS = 2000
const MAX_CHARACTERS = 16 * 1024 * 1024
const SHOWN_CHARACTERS = 300
/** Silence after which nothing more is stored. */
const QUIET_MS = 300

/** Without the ids of run and session, which all its events repeat; those of its sub-agent runs name theirs. */
function textOf(data: object, runId: string): string {
  const ids: ReadonlySet<unknown> = new Set([runId, 'sessionId' in data ? data.sessionId : runId])
  return JSON.stringify(data, (_, value: unknown) => (ids.has(value) ? undefined : value))
}

/** Reads what is stored now; a later change is another reading. */
export function readEvents(runId: string): Promise<readonly EventLine[]> {
  return new Promise((resolve) => {
    const events: EventLine[] = []
    let characters = 0
    const source = new EventSource(`/v1/runs/${encodeURIComponent(runId)}/stream`)
    const end = (): void => {
      clearTimeout(timer)
      source.close()
      resolve(events)
    }
    let timer = setTimeout(end, QUIET_MS * 5)
    source.addEventListener('message', ({ lastEventId, data: text }: MessageEvent<string>) => {
      clearTimeout(timer)
      timer = setTimeout(end, QUIET_MS)
      // Text as it arrives has no number: its step follows.
      if (lastEventId === '' || events.at(-1)?.number === Number(lastEventId)) return
      const { ts: at, subject, data } = JSON.parse(text) as StreamEvent
      events.push({
        number: Number(lastEventId),
        at,
        subject,
        data: cutText(textOf(data, runId), SHOWN_CHARACTERS).text,
      })
      characters += text.length
      if (events.length >= MAX_EVENTS || characters >= MAX_CHARACTERS) end()
    })
    source.addEventListener('error', end)
  })
}
