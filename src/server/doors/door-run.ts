/**
 * The runs of front ends that speak a protocol of their own. Each is started and answered through the very routes of the HTTP interface,
 * so that key, input contract, limits and idempotency are those of any start. Source: docs/design/http.md#doors-for-front-ends
 */
import { fail } from '../../base/failure.ts'
import { nameBasedId, type AgentId, type RunId, type SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { isExternalModel } from '../../spec/external.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'
import { approverOf } from '../../spec/people/key.ts'
import { isTerminal, isWaiting, type Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { PendingAnswer } from '../../spec/api.ts'
import { runAddress, taskAddress } from '../../view/console-address.ts'
import { seesTimeline, type AuthenticatedCaller } from '../auth/auth.ts'
import { grantsOfCaller } from '../auth/reader-grants.ts'
import { innerCall } from '../http/inner-call.ts'
import type { HttpRequestContext } from '../http/route.ts'
import { startRun } from '../routes/start-run.ts'
import { checkStreams, holdReader, viewOfCaller } from '../routes/stream.ts'
import type { ServerServices } from '../runtime/services.ts'
import { readPending } from '../view/pending.ts'

/** A run that a door tells of. */
export interface DoorRun {
  readonly run: Run
  /** Number of the last event of its session before what is told. */
  readonly after: number
  /** False where the conversation was still at work or waited, and nothing was started. */
  readonly isNew: boolean
}

export interface DoorStart {
  readonly agentId: AgentId
  /** Asked for where a run starts. @throws Failure `validation_failed` */
  readonly toInput: () => JsonObject
  /** The session that the run belongs to; a new one where absent. */
  readonly sessionId?: SessionId
  /** Starts with the same text are one. */
  readonly idempotencyKey?: string
  /** Kept with a session that begins. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** First messages of a conversation that arrive together start it once. */
const starting = new Map<SessionId, Promise<unknown>>()

/** Starts a run, unless its conversation has one that is not over. */
export async function startDoorRun(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  start: DoorStart,
): Promise<DoorRun> {
  const { sessionId } = start
  if (sessionId === undefined) return await startNow(services, call, caller, start)
  while (starting.has(sessionId)) await starting.get(sessionId)?.catch(() => {})
  const begun = startNow(services, call, caller, start).finally(() => starting.delete(sessionId))
  starting.set(sessionId, begun)
  return await begun
}

async function startNow(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  { agentId, toInput, sessionId, idempotencyKey, metadata }: DoorStart,
): Promise<DoorRun> {
  const { store } = services
  const session = sessionId && (await store.session(sessionId))
  if (session && !isTerminal(session.status)) return await openRunOf(services, session)
  const handle = startRun(services, async () => caller, session ? undefined : sessionId)
  const body = JSON.stringify({ input: toInput(), ...(session ? { sessionId } : metadata && { metadata }) })
  const headers = { ...traceOf(call), ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) }
  try {
    const { json } = await handle(innerCall(call, { agentId }, { body, headers }))
    const run = await store.run((json as { readonly runId: RunId }).runId)
    if (!run) throw fail('not_found', { what: 'run' })
    return { run, after: run.sessionId === session?.id ? session.lastSeq : 0, isNew: true }
  } catch (error) {
    // Another process has begun the conversation at the same moment.
    const now = !session && sessionId ? await store.session(sessionId) : undefined
    if (now) return await openRunOf(services, now)
    throw error
  }
}

async function openRunOf({ store }: ServerServices, { rootRunId, lastSeq }: Session): Promise<DoorRun> {
  const run = await store.run(rootRunId)
  if (!run) throw fail('not_found', { what: 'run' })
  return { run, after: lastSeq, isNew: false }
}

function traceOf({ request }: HttpRequestContext): Readonly<Record<string, string>> {
  const trace = request.headers.get('traceparent')
  return trace === null ? {} : { traceparent: trace }
}

/** A session of a door, by the name that its client gave to the conversation. Each caller has conversations of its own. */
export const doorSessionId = (
  door: string,
  { principal }: AuthenticatedCaller,
  agentId: AgentId,
  name: string,
): SessionId => nameBasedId<'session'>('door', door, principal.workspaceId, agentId, approverOf(principal), name)

/** What the deployed version is. @throws Failure `not_found` where nothing is deployed, or the agent stands for a client */
export async function readDeployed({ store }: ServerServices, agentId: AgentId): Promise<AgentSnapshot> {
  const agent = await store.agent(agentId)
  const version = agent?.deployedVersionId ? await store.version(agent.deployedVersionId) : undefined
  if (!version || isExternalModel(version.snapshot.model)) throw fail('not_found', { what: 'deployed agent' })
  return version.snapshot
}

/** Ends with the caller's connection, its credential and the server. */
export interface DoorLease {
  readonly signal: AbortSignal
  readonly end: () => void
}

/** @throws Failure `concurrency_limited` */
export function holdDoor(services: ServerServices, call: HttpRequestContext, caller: AuthenticatedCaller): DoorLease {
  checkStreams(services, caller.principal)
  const stop = new AbortController()
  const abort = () => stop.abort()
  const leave = holdReader(services, { grants: grantsOfCaller(caller), endsAt: caller.expiresAt }, abort)
  const socket = call.incoming?.socket
  socket?.once('close', abort)
  call.request.signal.addEventListener('abort', abort)
  return {
    signal: stop.signal,
    end() {
      // A reader that went away leaves nobody to follow the run for.
      abort()
      leave()
      socket?.off('close', abort)
      call.request.signal.removeEventListener('abort', abort)
    },
  }
}

/** Events of a run, as its caller may see them, until it waits or ends, or the signal aborts. */
export async function* followDoorRun(
  services: ServerServices,
  { principal }: AuthenticatedCaller,
  { run, after }: DoorRun,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent | LiveText> {
  if (!run.finishedAt && isWaiting(run.status)) return
  const view = await viewOfCaller(services, principal, run)
  try {
    for await (const together of services.engine.follow(run, after, signal))
      for (const each of together) {
        if (each === 'live' || each.runId !== run.id) continue
        const seen = view(each)
        if (seen) yield seen
        if (each.kind === 'run' && STOPS.has(each.subject)) return
      }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const STOPS = new Set(['engine.run.paused', 'engine.run.completed', 'engine.run.failed', 'engine.run.cancelled'])

/** Text that can only be the answer of the run; undefined for every other event. */
export function answerTextOf(event: StoredEvent | LiveText): string | undefined {
  const isAnswer =
    event.subject === 'engine.run.output' ||
    (event.subject === 'engine.step.delta' && 'isAnswer' in event && event.isAnswer)
  return isAnswer && typeof event.data['text'] === 'string' ? event.data['text'] : undefined
}

/** Where a run stands. */
export type DoorState =
  | { readonly at: 'completed'; readonly text: string }
  | { readonly at: 'failed'; readonly code: string; readonly message: string }
  | { readonly at: 'cancelled' }
  | { readonly at: 'waiting'; readonly text: string; readonly pending: readonly PendingAnswer[] }
  | { readonly at: 'working'; readonly text: string }

export async function readDoorState(
  services: ServerServices,
  { principal }: AuthenticatedCaller,
  runId: RunId,
): Promise<{ readonly run: Run; readonly state: DoorState }> {
  const run = await services.store.run(runId)
  if (!run) throw fail('not_found', { what: 'run' })
  if (isWaiting(run.status)) {
    const pending = await readPending(services.store, run, !seesTimeline(principal))
    return { run, state: { at: 'waiting', pending, text: describeWait(run, pending, services.serverState.consoleUrl) } }
  }
  return { run, state: stateOf(run) }
}

function stateOf({ id, status, output, error, errorCode }: Run): DoorState {
  switch (status) {
    case 'Completed':
      return { at: 'completed', text: typeof output === 'string' ? output : JSON.stringify(output ?? null) }
    case 'Failed':
      return { at: 'failed', code: errorCode ?? 'run_failed', message: `${error ?? 'The run failed.'} (run ${id})` }
    case 'Cancelled':
      return { at: 'cancelled' }
    default:
      return { at: 'working', text: `The run is still at work. Ask again for what became of it. (run ${id})` }
  }
}

/** For people: a chat shows it in the place of an answer. It names the run, so that the next message finds it. */
function describeWait(run: Run, pending: readonly PendingAnswer[], consoleUrl: string | null): string {
  const asked = questionInChat(pending)
  if (asked) return `${asked.prompt.trim()}\n\n(run ${run.id})`
  const tasks = pending.map(({ kind, prompt, userTaskId }) => {
    const where = consoleUrl !== null && userTaskId !== undefined ? ` ${taskAddress(consoleUrl, userTaskId)}` : ''
    return `- ${kind}: ${prompt.replace(/\s+/g, ' ').trim()}${where}`
  })
  const where = consoleUrl === null ? 'with svc inbox' : `at ${runAddress(consoleUrl, run.id)}`
  return [
    'This waits for a person, and goes on once somebody who may decide it has answered.',
    ...tasks,
    ...(tasks.some((each) => each.includes('://')) ? [] : [`It is answered ${where}.`]),
    `Ask again then. (run ${run.id})`,
  ].join('\n')
}

/** The question to whoever talks with the agent, where that is all it waits for: the next message of the chat answers it. */
export function questionInChat(pending: readonly PendingAnswer[]): PendingAnswer | undefined {
  const [first] = pending
  return pending.length === 1 && first?.kind === 'reply' ? first : undefined
}

/** Tokens of a run and of its sub-agents. */
export interface DoorTokens {
  readonly input: number
  readonly output: number
}

export async function readTokens({ store }: ServerServices, { id, sessionId }: Run): Promise<DoorTokens> {
  const runs = await store.treesOf(sessionId, [id])
  return {
    input: runs.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
    output: runs.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
  }
}

/** The run that an answer of a door named, as `describeWait` does. */
export const runNamedIn = (text: string): string | undefined =>
  /\(run ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)\s*$/.exec(text)?.[1]
