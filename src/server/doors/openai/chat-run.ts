/**
 * Finds or starts the run that answers the last message of a chat. Clients send all of a conversation each time, and few name it: it is then
 * known by its first exchange, as long as the session is where the client believes it to be. Otherwise a session begins with the transcript.
 */
import { digestOfJson } from '../../../base/digest.ts'
import { fail, isFailure } from '../../../base/failure.ts'
import type { AgentId, SessionId } from '../../../base/ids.ts'
import type { MessageAccepted } from '../../../spec/api.ts'
import { isTerminal, type Run } from '../../../spec/run/run.ts'
import type { Session } from '../../../spec/run/session.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { AuthenticatedCaller } from '../../auth/auth.ts'
import { agentInScope, runInScope } from '../../auth/scope.ts'
import { innerCall } from '../../http/inner-call.ts'
import type { HttpReply } from '../../http/reply.ts'
import type { HttpRequestContext } from '../../http/route.ts'
import { sendMessage } from '../../routes/messages.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { toChatInput } from '../chat-input.ts'
import {
  doorSessionId,
  holdDoor,
  questionInChat,
  readDeployed,
  readDoorState,
  readTokens,
  runNamedIn,
  startDoorRun,
  type DoorRun,
  type DoorTokens,
} from '../door-run.ts'
import { doorStream } from '../door-stream.ts'
import type { ChatMessage, ResponsesRequest } from './chat-request.ts'

export interface ChatRun extends DoorRun {
  /** Whether the text of its answer may be sent as it comes: that of JSON is written again at the end. */
  readonly isText: boolean
  /** What the run had used before the request; absent where the request started it. */
  readonly usedBefore?: DoorTokens
}

/** Answers a request with the stream of its run, or with what the run came to. */
export async function serveChat(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  request: Omit<ResponsesRequest, 'background'>,
  answers: {
    readonly stream: (started: ChatRun, signal: AbortSignal) => AsyncGenerator<string>
    readonly reply: (started: ChatRun, signal: AbortSignal) => Promise<HttpReply>
  },
): Promise<HttpReply> {
  const { signal, end } = holdDoor(services, call, caller)
  try {
    const started = await startChatRun(services, call, caller, request)
    if (request.stream) return doorStream(answers.stream(started, signal), end)
    const reply = await answers.reply(started, signal)
    end()
    return reply
  } catch (error) {
    end()
    throw error
  }
}

async function startChatRun(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  request: Omit<ResponsesRequest, 'background'>,
): Promise<ChatRun> {
  const { principal } = caller
  const agentId = await agentInScope(services, principal, request.model)
  const snapshot = await readDeployed(services, agentId)
  const isText = snapshot.output.format !== 'json'
  const earlier = await findEarlierRun(services, caller, request)
  const { messages, conversation } = request
  const ofName = conversation === undefined ? undefined : doorSessionId('openai', caller, agentId, conversation)
  const ofEarlier = earlier?.agentId === agentId ? earlier.run.sessionId : undefined
  const sessionId = ofName ?? ofEarlier ?? (await sessionOfPrefix(services, caller, agentId, messages))
  const session = sessionId && (await services.store.session(sessionId))
  if (session && (!isTerminal(session.status) || earlier?.isTold === false))
    return { ...(await continueRun(services, call, caller, session, messages)), isText }
  const key = call.request.headers.get('idempotency-key')
  const started = await startDoorRun(services, call, caller, {
    agentId,
    toInput: () => toChatInput(snapshot, textOf(snapshot, messages, session !== undefined)),
    ...(sessionId && { sessionId }),
    ...(key !== null && { idempotencyKey: key }),
    ...(conversation !== undefined && { metadata: { 'openai.session': conversation } }),
  })
  return { ...started, isText }
}

/** The run that the client was told of: its question is answered by the message, and anything else is told once more. */
async function continueRun(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  { rootRunId, lastSeq }: Session,
  messages: readonly ChatMessage[],
): Promise<Omit<ChatRun, 'isText'>> {
  const { run, state } = await readDoorState(services, caller, rootRunId)
  const usedBefore = await readTokens(services, run)
  const asked = state.at === 'waiting' ? questionInChat(state.pending) : undefined
  if (!asked) return { run, after: lastSeq, isNew: false, usedBefore }
  const body = JSON.stringify({ runId: asked.runId, text: lastMessage(messages) })
  const answer = innerCall(call, { runId: asked.runId }, { body })
  const { error } = (await sendMessage(services, async () => caller)(answer)).json as MessageAccepted
  if (error !== undefined) throw fail('validation_failed', { what: error })
  return { run: (await services.store.run(run.id)) ?? run, after: lastSeq, isNew: false, usedBefore }
}

interface EarlierRun {
  readonly run: Run
  readonly agentId: AgentId
  /** False where the client was told that the run waits or works, and not yet what became of it. */
  readonly isTold: boolean
}

/** The run that the client continues: the response that it names, or the one that the last answer said to be under way. */
async function findEarlierRun(
  services: ServerServices,
  { principal }: AuthenticatedCaller,
  { previousResponse, messages }: Omit<ResponsesRequest, 'background'>,
): Promise<EarlierRun | undefined> {
  const answers = messages.filter(({ role }) => role === 'assistant').map(({ text }) => text)
  const named = answers.findLast((text) => runNamedIn(text) !== undefined)
  const id = previousResponse?.replace(/^resp_/, '') ?? (named && runNamedIn(named))
  if (id === undefined) return undefined
  try {
    const run = await runInScope(services, principal, id)
    const session = await services.store.session(run.sessionId)
    if (!session) return undefined
    const isNewest = session.rootRunId === run.id
    const isTold = run.finishedAt !== null && !(named !== undefined && answers.at(-1) === named && isNewest)
    if (previousResponse === undefined && isTold && !endsWith(session, answers.at(-1))) return undefined
    return { run, agentId: session.agentId, isTold }
  } catch (error) {
    // Text of the client's, which may name anything; a response that it names must be there.
    if (previousResponse === undefined && isFailure(error)) return undefined
    throw error
  }
}

/** Sessions that may be that of a chat without a name, at most. */
const MOST_PREFIXES = 100

/**
 * The session of a chat is named by what was said before it began: the first exchange, or more of it where another chat that began with
 * the same words has that name. Undefined for a session without a name, as that of the first message, which nothing was said before.
 */
async function sessionOfPrefix(
  { store }: ServerServices,
  caller: AuthenticatedCaller,
  agentId: AgentId,
  messages: readonly ChatMessage[],
): Promise<SessionId | undefined> {
  let said = ''
  const names: string[] = []
  for (const message of messages) {
    said = digestOfJson([said, message.role, message.text])
    if (message.role === 'assistant') names.push(said)
  }
  const ids = names.slice(-MOST_PREFIXES).map((name) => doorSessionId('openai.prefix', caller, agentId, name))
  const answer = messages.findLast(({ role }) => role === 'assistant')?.text
  let free: SessionId | undefined
  for (const [at, id] of ids.entries()) {
    const session = await store.session(id)
    if (session && at < ids.length - 1 && endsWith(session, answer)) return id
    free = session ? undefined : id
  }
  return free
}

/** False where the session is not where the client believes it: another chat that began with the same words may have gone on in it. */
const endsWith = ({ output }: Session, answer: string | undefined): boolean =>
  (typeof output === 'string' ? output : JSON.stringify(output)).trim() === answer?.trim()

function textOf({ inputContract }: AgentSnapshot, messages: readonly ChatMessage[], isKnown: boolean): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const message = lastMessage(messages)
  // An agent that takes an object takes no transcript.
  if (last < 0 || isKnown || (inputContract !== undefined && message.trimStart().startsWith('{'))) return message
  const said = messages.slice(0, last + 1).map(({ role, text }) => `${role === 'user' ? 'User' : 'Assistant'}: ${text}`)
  return ['The conversation so far:', ...said, '', message].join('\n')
}

/** What the person wrote since the last answer. */
const lastMessage = (messages: readonly ChatMessage[]): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .map(({ text }) => text)
    .join('\n\n')
