/** What tools report of the calls under way of one run, as it arrives: it is stored nowhere. */
import { useEffect, useState } from 'preact/hooks'
import type { StepProgressEvent } from '../../spec/api.ts'

/** The last report about a call. */
export interface CallProgress {
  readonly progress?: number
  readonly total?: number
  readonly message?: string
}

/** By the id of the call. */
export type ProgressOfCalls = ReadonlyMap<string, CallProgress>

const NONE: ProgressOfCalls = new Map()

/**
 * Follows the stream of a run while `isFollowed` and the tab is looked at, since a browser opens few connections to one server.
 * @param lastEvent number of an event after which nothing is missed; the stream goes on behind it
 */
export function useProgress(runId: string, isFollowed: boolean, lastEvent: number): ProgressOfCalls {
  const [reports, setReports] = useState(NONE)
  useEffect(() => {
    if (!isFollowed) return undefined
    let source: EventSource | undefined
    const follow = (): void => {
      source?.close()
      source = document.hidden
        ? undefined
        : new EventSource(`/v1/runs/${encodeURIComponent(runId)}/stream?after=${lastEvent}`)
      source?.addEventListener('message', ({ data }: MessageEvent<string>) => {
        const { subject, data: about } = JSON.parse(data) as Pick<StepProgressEvent, 'data'> & {
          readonly subject: string
        }
        if (subject !== 'engine.step.progress') return
        const { toolCallId, ...report } = about
        setReports((before) => new Map(before).set(toolCallId, report))
      })
    }
    document.addEventListener('visibilitychange', follow)
    follow()
    return () => {
      document.removeEventListener('visibilitychange', follow)
      source?.close()
      setReports(NONE)
    }
  }, [runId, isFollowed])
  return reports
}

/** `2 of 5: reading orders`. Not escaped. */
export function describeReport({ progress, total, message }: CallProgress): string {
  const count = [progress, progress === undefined ? undefined : total].filter((each) => each !== undefined).join(' of ')
  return [count, message ?? ''].filter((each) => each !== '').join(': ')
}

/** The part that is done, from 0 to 1; undefined where the tool does not say of how much. */
export const shareOf = ({ progress, total }: CallProgress): number | undefined =>
  progress === undefined || total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total))
