import type { Clock, Instant } from '../../base/clock.ts'
import { Failure } from '../../base/failure.ts'
import type { RunId } from '../../base/ids.ts'
import { endsAfter } from '../../engine/drive/run-events.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import { mayApprove, type Principal } from '../../spec/people/key.ts'
import { seesTimeline, withCaller, type ApiPrincipal, type IdentifyCaller } from '../auth/auth.ts'
import { detailOf } from '../http/detail.ts'
import { eventFor } from '../view/answerable-by.ts'
import { redactEvent, wholeTimelineView } from '../view/redact.ts'
import { rootAbove } from '../view/root-run.ts'
import type { HttpReply } from '../http/reply.ts'
import { type HttpRequestContext, type RouteHandler, readPathParam } from '../http/route.ts'
import { grantsOfCaller } from '../auth/reader-grants.ts'
import { runInScope } from '../auth/scope.ts'
import type { ReaderGrants } from '../runtime/readers.ts'
import type { ServerServices } from '../runtime/services.ts'
import { STREAM_HEADERS, eventStream, type EventStreamOptions } from '../http/sse.ts'
import { cursorIn, parseCursor } from '../http/validate.ts'

/** GET /v1/runs/{runId}/stream: everything from the session's first event, or after the cursor, then live. */
export const streamRun = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, caller) => {
    const { principal, expiresAt } = caller
    const run = await runInScope(services, principal, readPathParam(call, 'runId'))
    checkStreams(services, principal)
    const view = await viewOfCaller(services, principal, run)
    return openStream(services, call, run, { grants: grantsOfCaller(caller), endsAt: expiresAt }, view)
  })

/** What a caller sees of the events of a run. */
export const viewOfCaller = async (
  { store }: Pick<ServerServices, 'store'>,
  principal: ApiPrincipal,
  run: Run,
): Promise<EventStreamOptions['view']> =>
  seesTimeline(principal) ? timelineView(principal) : outputView(await rootAbove(store, run))

// Created outside the route: a closure inside would keep its run and session in memory with each stream.
const timelineView = (principal: Principal): EventStreamOptions['view'] =>
  mayApprove(principal)
    ? wholeTimelineView
    : (event) => {
        const shown = wholeTimelineView(event)
        return shown && eventFor(principal, shown)
      }

const outputView =
  (rootRunId: RunId): EventStreamOptions['view'] =>
  (event) =>
    redactEvent(event, rootRunId)

/** Open streams per key. Source: docs/design/security.md#requests */
const MAX_STREAMS = 100

/** @throws Failure `concurrency_limited` */
export function checkStreams({ readers }: Pick<ServerServices, 'readers'>, principal: ApiPrincipal): void {
  if (principal.type === 'operator' || readers.count(principal.id) < MAX_STREAMS) return
  throw new Failure('concurrency_limited', `An API key may have ${MAX_STREAMS} event streams open at once.`, {
    headers: { 'ratelimit-policy': `"streams";q=${MAX_STREAMS}`, ratelimit: '"streams";r=0;t=1' },
  })
}

/** Conditions that end an open stream early. */
export interface StreamLease {
  /** The stream ends when one of these is revoked or changes. */
  readonly grants: ReaderGrants
  /** When the permission to read expires; null = never. */
  readonly endsAt: Instant | null
}

export async function openStream(
  services: ServerServices,
  { request, url }: HttpRequestContext,
  run: Run,
  { grants, endsAt }: StreamLease,
  view: EventStreamOptions['view'],
): Promise<HttpReply> {
  const given = cursorIn(request.headers, url.searchParams)
  const session = given && (await services.store.session(run.sessionId))
  const cursor = session && parseCursor(given, session.lastSeq)
  // 204 tells a standard EventSource to stop reconnecting.
  if (session && cursor !== undefined && isTerminal(run.status) && !(await endsAfter(services.store, run, cursor)))
    return { status: 204 }
  const stop = new AbortController()
  // Keeps only the id of the run in memory: everything here is multiplied by the number of readers.
  const { id: runId, sessionId, parentRunId, status, starter, startedAt, finishedAt } = run
  const followed = { id: runId, sessionId, parentRunId, status, startedAt, finishedAt, ...(starter && { starter }) }
  const leave = holdReader(services, { grants, endsAt }, () => stop.abort())
  const events = eventStream(services.engine.follow(followed, cursor ?? 0, stop.signal), {
    view,
    stop,
    isClosing: () => services.serverState.closing,
    onEnd(cause) {
      leave()
      if (cause !== undefined) services.log.write('error', 'stream failed', { runId, detail: detailOf(cause) })
    },
  })
  return { status: 200, events, headers: STREAM_HEADERS }
}

/** @returns a function that ends the lease of a reader; `stop` is called when its credential or the server ends first */
export function holdReader(
  { readers, clock }: Pick<ServerServices, 'readers' | 'clock'>,
  { grants, endsAt }: StreamLease,
  stop: () => void,
): () => void {
  const remove = readers.add(grants, stop)
  const cancelTimer = endsAt === null ? () => {} : callAt(clock, endsAt, stop)
  return () => {
    remove()
    cancelTimer()
  }
}

/** The longest timer that Node supports: 2^31 - 1 ms. */
const LONGEST_TIMER_MS = 2_147_483_647

/** Calls `act` at a moment. @returns a function that cancels it */
function callAt(clock: Clock, moment: Instant, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    const left = moment - clock.now()
    if (left <= 0) return act()
    timer = setTimeout(wait, Math.min(left, LONGEST_TIMER_MS))
    timer.unref()
  }
  wait()
  return () => clearTimeout(timer)
}
