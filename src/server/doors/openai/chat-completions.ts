/** POST chat/completions. */
import { signalWithin } from '../../../base/signal-within.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { AuthenticatedCaller } from '../../auth/auth.ts'
import { apiBodyLimits, readJson } from '../../http/body.ts'
import { okReply } from '../../http/reply.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { answerTextOf, followDoorRun, readDoorState, readTokens, type DoorState, type DoorTokens } from '../door-run.ts'
import { dataFrame } from '../door-stream.ts'
import { parseChatRequest, type ChatRequest } from './chat-request.ts'
import { serveChat, type ChatRun } from './chat-run.ts'
import { failedRunReply, toSeconds, type OpenAiHandler } from './openai-reply.ts'

/** A client waits ten minutes. It is answered before, with the name of the run. */
const LONGEST_ANSWER_MS = 540_000

export const completeChat: OpenAiHandler = async (services, call, caller) => {
  const request = parseChatRequest(await readJson(call, apiBodyLimits(services.config)))
  return await serveChat(services, call, caller, request, {
    stream: (started, signal) => chatFrames(services, caller, request, started, signal),
    async reply(started, signal) {
      const { run, state } = await awaitAnswer(services, caller, started, signal)
      if (state.at === 'failed') return failedRunReply(state.code, services.redactor.text(state.message))
      const message = { role: 'assistant', content: textOfState(state), refusal: null }
      return okReply({
        ...headOf(run, request, 'chat.completion'),
        choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
        usage: await readUsage(services, run, started),
      })
    },
  })
}

/** Waits until the run waits for a person or ends, as long as a client does. */
export async function awaitAnswer(
  services: ServerServices,
  caller: AuthenticatedCaller,
  started: ChatRun,
  until: AbortSignal,
): Promise<{ readonly run: Run; readonly state: DoorState }> {
  const signal = signalWithin(LONGEST_ANSWER_MS, until)
  const events = followDoorRun(services, caller, started, signal)
  while (!(await events.next()).done);
  return await readDoorState(services, caller, started.run.id)
}

async function* chatFrames(
  services: ServerServices,
  caller: AuthenticatedCaller,
  request: ChatRequest,
  started: ChatRun,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const head = headOf(started.run, request, 'chat.completion.chunk')
  const usage = request.includeUsage ? { usage: null } : {}
  const chunk = (delta: object, finish: string | null = null): string =>
    dataFrame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...usage })
  yield chunk({ role: 'assistant', content: '' })
  const sent = yield* streamAnswer(services, caller, started, signal, (text) => chunk({ content: text }))
  if (signal.aborted) return
  const { run, state } = await readDoorState(services, caller, started.run.id)
  if (state.at === 'failed') {
    const message = services.redactor.text(state.message)
    yield dataFrame({ error: { message, type: 'run_failed', param: null, code: state.code } })
    return
  }
  const rest = restOf(textOfState(state), sent)
  if (rest !== '') yield chunk({ content: rest })
  yield chunk({}, 'stop')
  if (request.includeUsage) yield dataFrame({ ...head, choices: [], usage: await readUsage(services, run, started) })
  yield 'data: [DONE]\n\n'
}

/** Sends pieces of the answer as they come. @returns what was sent */
export async function* streamAnswer(
  services: ServerServices,
  caller: AuthenticatedCaller,
  started: ChatRun,
  signal: AbortSignal,
  frame: (text: string) => string,
): AsyncGenerator<string, string> {
  let sent = ''
  for await (const event of followDoorRun(services, caller, started, signal)) {
    const text = started.isText ? answerTextOf(event) : undefined
    if (text === undefined) continue
    sent += text
    yield frame(text)
  }
  return sent
}

/** What of an answer was not sent yet; all of it where other text was sent, as by a model that was asked again. */
export function restOf(answer: string, sent: string): string {
  if (answer.startsWith(sent)) return answer.slice(sent.length)
  return sent.trim() === answer.trim() ? '' : `\n\n${answer}`
}

export const textOfState = (state: Exclude<DoorState, { at: 'failed' }>): string =>
  state.at === 'cancelled' ? 'The run was cancelled.' : state.text

const headOf = ({ id, sessionId, startedAt }: Run, { model }: ChatRequest, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: toSeconds(startedAt),
  model,
  svc: { run_id: id, session_id: sessionId },
})

/** Tokens that the request used. */
export async function readUsed(
  services: ServerServices,
  run: Run,
  { usedBefore = { input: 0, output: 0 } }: Pick<ChatRun, 'usedBefore'>,
): Promise<DoorTokens> {
  const { input, output } = await readTokens(services, run)
  return { input: input - usedBefore.input, output: output - usedBefore.output }
}

async function readUsage(services: ServerServices, run: Run, started: ChatRun) {
  const { input, output } = await readUsed(services, run, started)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
