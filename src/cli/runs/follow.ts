/** Follows a run: shows its events, asks a person to decide its tasks, and returns where it stopped. */
import { describeHold } from '../../spec/run/hold.ts'
import { timesFor } from './held.ts'
import { isTerminal, type RunStatus, type StreamEvent, isWaiting, type SvcClient } from '../../client/index.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { TaskPromptContext } from './card/open-decision.ts'
import { createEventDisplay, type DisplayOptions } from './event-display.ts'
import { createResultFilter } from './result-filter.ts'
import { createWaitHandler, type WaitHandlerOptions } from './wait-handler.ts'

export interface FollowOptions extends DisplayOptions, WaitHandlerOptions {
  readonly maxWaitMs?: number
}

/** Why following ended: the run ended, it waits (for `task` where it is one), or `maxWaitMs` passed (`gaveUp`). */
export interface FollowEnd {
  readonly run: RunStatus
  readonly task?: ShownTask
  readonly gaveUp: boolean
}

export async function followRunOnScreen(
  session: TaskPromptContext<StreamEvent>,
  options: FollowOptions,
): Promise<FollowEnd> {
  const { call, client } = session
  const { runId, maxWaitMs } = options
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal])
  const display = createEventDisplay(call, options, options.onTask === 'prompt')
  const results = createResultFilter(runId)
  let end: FollowEnd | undefined
  let gaveUp = false
  let failure: unknown
  const waiting = createWaitHandler(session, options, {
    display,
    signal,
    stopFollowing(run, task) {
      end = { run, gaveUp: false, ...(task && { task }) }
      stop.abort()
    },
  })
  const giveUp = (): void => {
    gaveUp = true
    stop.abort()
  }
  const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs)
  let handling = Promise.resolve()
  let toldHold: string | undefined
  try {
    if (isUnwatched(options)) {
      const run = await waitUnwatched(client, runId, signal)
      if (run && isTerminal(run.status)) return { run, gaveUp: false }
      if (run) await waiting.handle()
      if (end) return end
    }
    for await (const event of client.streamRunEvents(runId, { signal })) {
      if (options.events && call.mode.json) await call.out.ndjson(event)
      else results.add(event).forEach(display.show)
      waiting.closeTask(event)
      toldHold = tellHold(call, event, toldHold)
      // Keep reading events while a person decides: the task may be closed elsewhere.
      if (asksForSomebody(event, runId))
        handling = handling.then(waiting.handle).catch((error: unknown) => {
          failure ??= error
          stop.abort()
        })
    }
  } catch (error) {
    if (!stop.signal.aborted) {
      // The card gives the terminal back first.
      await handling
      throw error
    }
  } finally {
    if (timer) clearTimeout(timer)
    results.end().forEach(display.show)
  }
  await handling
  if (failure !== undefined && !gaveUp) throw failure
  return end ?? { run: await client.getRun(runId), gaveUp }
}

const asksForSomebody = ({ subject, data }: StreamEvent, runId: string): boolean =>
  subject === 'engine.user_task.created' || (subject === 'engine.run.paused' && data.runId === runId)

/**
 * Says why a run does nothing, so that nobody who watches thinks it hangs. A message to a held run repeats the event.
 * @returns what was said last
 */
function tellHold(
  { out, io }: TaskPromptContext['call'],
  { subject, data }: StreamEvent,
  told: string | undefined,
): string | undefined {
  const { hold } = data as { readonly hold?: RunStatus['hold'] }
  if (subject !== 'engine.run.paused' || !hold) return told
  const text = `held ${describeHold(hold, timesFor(io.stderr, io.clock))}`
  if (text !== told) out.message(text)
  return text
}

/** The part of `FollowOptions` that says who watches. */
interface WatchOptions {
  readonly show: string
  readonly events: boolean
  readonly onTask: string
  readonly scriptedAnswers?: object
}

/** True if nobody sees the steps of the run and nothing has to be answered on the way. */
const isUnwatched = ({ show, events, onTask, scriptedAnswers }: WatchOptions): boolean =>
  show === 'none' && !events && onTask === 'exit' && scriptedAnswers === undefined

/** Shorter than the time for which proxies let a request wait. */
const WAIT_SECONDS = 20

/**
 * Waits in requests that the server holds, in place of a stream that nobody reads.
 * @returns the run once it has ended or waits for somebody; undefined where the stream has more to tell: the run is held, or
 * the server grants no wait
 */
async function waitUnwatched(client: SvcClient, runId: string, signal: AbortSignal): Promise<RunStatus | undefined> {
  for (;;) {
    const asked = performance.now()
    const run = await client.getRun(runId, { signal, waitSeconds: WAIT_SECONDS, timeoutMs: (WAIT_SECONDS + 10) * 1000 })
    if (isTerminal(run.status) || isWaiting(run.status)) return run
    if (run.hold || performance.now() - asked < WAIT_SECONDS * 500) return undefined
  }
}
